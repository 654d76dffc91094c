"""Selective recall: from notes too many to show to those that a turn needs. Pure: the driver is in `service`."""

from .age import format_age
from .body import BodyLimits, FullRecall, PickedNotes, compose_selective_body
from .budget import MIN_TOKENS, FittedDigest, TokenBudget, brief, fit_to_budget
from .caveat import RECALL_CAVEAT
from .headers import NoteHeader
from .links import resolve_links
from .manifest import Manifest, ManifestLimits, build_manifest, validate_selected_ids
from .outcome import Block, Degrade, DegradeReason, NothingNew, Outcome
from .selection import SelectionRequest, Selector
from .surfaced import encode_surfaced_key, unsurfaced
from .tokens import Estimator, estimate_tokens

__all__ = [
    "MIN_TOKENS",
    "RECALL_CAVEAT",
    "Block",
    "BodyLimits",
    "Degrade",
    "DegradeReason",
    "Estimator",
    "FittedDigest",
    "FullRecall",
    "Manifest",
    "ManifestLimits",
    "NoteHeader",
    "NothingNew",
    "Outcome",
    "PickedNotes",
    "SelectionRequest",
    "Selector",
    "TokenBudget",
    "brief",
    "build_manifest",
    "compose_selective_body",
    "encode_surfaced_key",
    "estimate_tokens",
    "fit_to_budget",
    "format_age",
    "resolve_links",
    "unsurfaced",
    "validate_selected_ids",
]
