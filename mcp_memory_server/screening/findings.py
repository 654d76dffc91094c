"""What the detectors answer. Neither value holds any of the text it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Reason = Literal[
    "overrides-instructions",
    "impersonates-system",
    "changes-role",
    "addresses-model",
    "claims-authority",
    "hides-from-user",
    "asks-to-exfiltrate",
    "reveals-prompt",
    "calls-tool",
    "skips-confirmation",
    "persistent-command",
    "chat-markup",
    "image-exfiltration",
    "invisible-text",
    "encoded-instruction",
]

REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

EVIDENCE_CHARS: Final = 80

MAX_TEXT_CHARS: Final = 100_000
"""Characters that are read at all. A fact has hundreds, and what is longer than a fact may be is refused elsewhere."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why a note is held back until a person has looked at it.

    `reason` is stable across releases. `evidence` names the rule and the reading of the text that it fits: at most
    `EVIDENCE_CHARS` characters, for the person who reviews.
    """

    reason: Reason
    evidence: str


@dataclass(frozen=True, slots=True)
class CredentialKind:
    """A kind of credential, by the name that a person is told: *GitHub token*, *card number*."""

    name: str
