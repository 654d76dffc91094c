"""What each kind of memory adds to its text, and the strict gate that a write of it passes (spec section 9.1).

Reading is lenient: a record of any shape is shown. What is written goes through here, and whatever is wrong is named
with its limit, all of it at once. The `text` of a record says everything that its kind adds, so that whoever ranks,
screens or lists texts misses nothing.
"""

from __future__ import annotations

from typing import Final

from mcp_memory_server.errors import InvalidInput, Problem
from mcp_memory_server.records import MemoryRecord, normal_text

from .episodes import normal_episode
from .form import PLAIN, Form
from .insights import normal_insight
from .rules import MAX_RULE_CHARS, normal_rule, rule_text, rule_words
from .triples import names_of, normal_name
from .working import MAX_CHAR_LIMIT, normal_working, working_text

__all__ = ["PLAIN", "Form", "normal_kind", "words_of"]

_PART_OF: Final = {"rule": "procedural", "episode": "episodic", "working": "working", "insight": "insight"}


def words_of(record: MemoryRecord) -> dict[str, tuple[str, ...]]:
    """What a record says beside its key, text and tags, by the name of the part: its text may say something else.

    Each part, and all of them in one line: what is split over steps or lines is read together all the same.
    """
    said: dict[str, tuple[str, ...]] = {name: (given,) for name, given in names_of(record).items()}
    if record.rule is not None:
        said["rule"] = rule_words(record.rule)
    if record.working is not None:
        said["working"] = (record.working.value, working_text(record.working))
    return said


def normal_kind(record: MemoryRecord, max_fact_chars: int) -> MemoryRecord:
    """A record from elsewhere with what its kind adds, and its text, as a write would have stored them.

    The text of a rule or a working block follows from its parts, whatever it was given: people review the text, and
    models are shown the parts.

    Raises:
        InvalidInput: a part of another kind, one that breaks a limit, or a conversation's note without one.
    """
    wrong = [
        Problem(name, f"belongs to the kind {kind}, and this record is {record.kind}")
        for name, kind in _PART_OF.items()
        if getattr(record, name) is not None and record.kind != kind
    ]
    if record.kind == "session" and record.origin.thread_id is None:
        wrong.append(Problem("origin.thread_id", "is missing: a note of the kind session is one conversation's"))
    if wrong:
        raise InvalidInput(*wrong)
    parts: dict[str, object] = {}
    text, max_chars = record.text, max_fact_chars
    if record.rule is not None:
        parts["rule"] = rule = normal_rule(record.rule, max_fact_chars)
        text, max_chars = rule_text(rule), MAX_RULE_CHARS
    if record.working is not None:
        parts["working"] = working = normal_working(record.working)
        text, max_chars = working_text(working), MAX_CHAR_LIMIT
    if record.episode is not None:
        parts["episode"] = normal_episode(record.episode.started_at, record.episode.ended_at)
    if record.insight is not None:
        cites = normal_insight(record.insight.cites).cites
        parts["insight"] = record.insight.model_copy(update={"cites": cites})
    parts |= {name: normal_name(name, given) for name, given in names_of(record).items()}
    return record.model_copy(update={**parts, "text": normal_text(text, max(max_chars, max_fact_chars), "text")})
