"""What is remembered: `MemoryRecord` and the values inside it.

Reading is lenient and writing is strict. A record that a foreign provider returns is accepted as it is
(rendering makes it harmless); `normal_text`, `normal_key` and `normal_tags` are the gate for what is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from .errors import InvalidInput, echo

MAX_KEY_CHARS: Final = 100
MAX_TAGS: Final = 16
MAX_TAG_CHARS: Final = 40

Author = Literal["agent", "human"]
Kind = Literal["semantic", "procedural", "episodic", "working", "session", "shared", "insight"]
Provenance = Literal["user", "tool", "extraction", "reflection", "induction", "imported"]
Status = Literal["active", "quarantined"]
Owner = Literal["user", "agent", "shared"]
Sensitivity = Literal["public", "internal", "secret"]
Extraction = Literal["allow", "skip"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
OWNERS: Final[tuple[Owner, ...]] = get_args(Owner)


def canonical_instant(value: object) -> str:
    """An instant as UTC `YYYY-MM-DDTHH:MM:SS.mmmZ`, so that strings compare in time order.

    Takes an ISO 8601 string or a datetime, with any offset; finer than a millisecond is cut off.

    Raises:
        ValueError: not a time, or a time without a zone.
    """
    if isinstance(value, str):
        return _parsed_instant(value)
    if not isinstance(value, datetime):
        raise ValueError(f"is not a time: {echo(value)}; write it like 2026-03-01T09:00:00Z")
    if value.utcoffset() is None:
        raise ValueError(f"has no time zone: {echo(str(value))}; end it with Z or an offset such as +02:00")
    try:
        utc = value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"is outside the years 1 to 9999: {echo(str(value))}") from None
    # strftime does not pad years below 1000 on every platform; isoformat does.
    return utc.isoformat(timespec="milliseconds")[:23] + "Z"


# The same records are read turn after turn, so the same few instants are parsed again and again.
@lru_cache(maxsize=4096)
def _parsed_instant(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"is not an ISO 8601 time: {echo(text)}; write it like 2026-03-01T09:00:00Z") from None
    return canonical_instant(moment)


Instant = Annotated[str, BeforeValidator(canonical_instant)]
"""A UTC instant in the one stored and shown form (`canonical_instant`)."""


def is_absent(value: Any) -> bool:
    """In JSON an absent value is left out, never null; empty tags, overrides and signals count as absent."""
    return value is None or value in ((), {})


class FrozenModel(BaseModel):
    """Base of the values that enter and leave: immutable, and strict about unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MemoryOrigin(FrozenModel):
    """Who said it and where. The thread may be gone: a pointer that may dangle."""

    author: Author
    thread_id: str | None = Field(default=None, exclude_if=is_absent)
    run_id: str | None = Field(default=None, exclude_if=is_absent)
    actor_ref: str | None = Field(default=None, exclude_if=is_absent)


class Rule(FrozenModel):
    """What makes a procedural record more than its text: when to follow which steps, and how often it worked.

    `steps` are in order and may hold `{variables}`; of two rules that apply, the higher `priority` goes first.
    `succeeded_in` names the last threads that reported a success: each counts once.
    """

    condition: str
    steps: tuple[str, ...] = ()
    priority: int = 0
    success_criteria: str | None = Field(default=None, exclude_if=is_absent)
    success_count: int = Field(default=0, ge=0)
    failure_count: int = Field(default=0, ge=0)
    succeeded_in: tuple[str, ...] = Field(default=(), exclude_if=is_absent)


class Episode(FrozenModel):
    """When what an episodic record sums up took place; open where it has not ended."""

    started_at: Instant
    ended_at: Instant | None = Field(default=None, exclude_if=is_absent)


class WorkingBlock(FrozenModel):
    """A named slot that is shown every turn: the record's key is its label, its text the value on one line.

    `value` may have several lines and holds at most `char_limit` code points. Nobody but a person changes a block
    that is `read_only`.
    """

    value: str
    char_limit: int = Field(ge=1)
    read_only: bool = False


class Insight(FrozenModel):
    """What an inference rests on: the ids of the memories that it cites, and how far votes bear it out."""

    cites: tuple[str, ...] = Field(min_length=1)
    salience: int = 2


class MemoryRecord(FrozenModel):
    """One fact about one question (`key`) at one scope, with who said it. Immutable.

    Beside the fields of spec section 3: `derived_from` are the ids of the records that it was concluded from;
    `held_because` says why it is quarantined; `archived_at` when it was set aside, and `archived_because` why and by
    whom; and `rule`, `episode`, `working` and `insight` are what its kind adds.
    """

    id: str = Field(min_length=1)
    key: str
    text: str
    scope: str
    origin: MemoryOrigin
    created_at: Instant | None = Field(default=None, exclude_if=is_absent)
    updated_at: Instant
    version: int = Field(default=1, ge=1)
    pinned: bool = False
    kind: Kind = "semantic"
    provenance: Provenance | None = Field(default=None, exclude_if=is_absent)
    status: Status = "active"
    owner: Owner | None = Field(default=None, exclude_if=is_absent)
    sensitivity: Sensitivity = "internal"
    tags: tuple[str, ...] = Field(default=(), exclude_if=is_absent)
    importance: float | None = Field(default=None, ge=0, le=1, exclude_if=is_absent)
    confidence: float | None = Field(default=None, ge=0, le=1, exclude_if=is_absent)
    valid_from: Instant | None = Field(default=None, exclude_if=is_absent)
    valid_to: Instant | None = Field(default=None, exclude_if=is_absent)
    supersedes: str | None = Field(default=None, exclude_if=is_absent)
    superseded_by: str | None = Field(default=None, exclude_if=is_absent)
    subject: str | None = Field(default=None, exclude_if=is_absent)
    predicate: str | None = Field(default=None, exclude_if=is_absent)
    object: str | None = Field(default=None, exclude_if=is_absent)
    extraction: Extraction | None = Field(default=None, exclude_if=is_absent)
    derived_from: tuple[str, ...] = Field(default=(), exclude_if=is_absent)
    held_because: str | None = Field(default=None, exclude_if=is_absent)
    archived_at: Instant | None = Field(default=None, exclude_if=is_absent)
    archived_because: str | None = Field(default=None, exclude_if=is_absent)
    rule: Rule | None = Field(default=None, exclude_if=is_absent)
    episode: Episode | None = Field(default=None, exclude_if=is_absent)
    working: WorkingBlock | None = Field(default=None, exclude_if=is_absent)
    insight: Insight | None = Field(default=None, exclude_if=is_absent)


def active_lane(kind: Kind, thread_id: str | None) -> str:
    """Beside which records of its scope and key an active one stands: the one of each lane is current.

    Facts that hold everywhere share one lane; what holds for one thread only has that thread's.
    """
    return f"session:{thread_id or ''}" if kind == "session" else ""


def lane_of(record: MemoryRecord) -> str:
    """The record's lane at its scope and key. One that waits for review has its own, and so never replaces a fact."""
    if record.status == "quarantined":
        return f"held:{record.id}"
    return active_lane(record.kind, record.origin.thread_id)


def comes_along(record: MemoryRecord) -> bool:
    """Whether the record is in every block: an operator pinned it, or it is a working block, shown every turn."""
    return record.pinned or record.kind == "working"


# --- normalising ------------------------------------------------------------------------------------

_BREAKS = re.compile("[\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]+")
# Controls, bidirectional marks and overrides, and characters that show nothing. U+200C and U+200D
# (joiners) and the tag characters of flag emoji are judged by their neighbours below.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_FLAG = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0000-\U000e007f]")
_JOINER = re.compile("[\u200c\u200d]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_MAX_INDENT: Final = 16


def _joins(text: str, index: int) -> bool:
    """Whether the joiner at `index` stands inside a word or an emoji, which need it to be read right."""

    def holds(neighbour: str) -> bool:
        return (
            neighbour == "\ufe0f"
            or unicodedata.category(neighbour)[:1] in "LM"
            or (unicodedata.category(neighbour) in {"So", "Sk"})
        )

    return 0 < index < len(text) - 1 and holds(text[index - 1]) and holds(text[index + 1])


def visible_line(text: str) -> str:
    """Text as one line that shows all it holds: NFC, trimmed, no control, bidirectional or zero-width characters.

    Total: any string at all has a result. Lone surrogates become U+FFFD, so that the result can be encoded.
    """
    if text.isprintable() and unicodedata.is_normalized("NFC", text):
        return text.strip()  # nothing that the steps below look for is printable
    text = _SURROGATE.sub("\ufffd", text)
    text = _HIDDEN.sub("", _BREAKS.sub(" ", text))
    text = _FLAG.sub(lambda match: match[1] or "", text)
    if _JOINER.search(text):
        text = "".join(char for index, char in enumerate(text) if char not in "\u200c\u200d" or _joins(text, index))
    return unicodedata.normalize("NFC", text).strip()


def visible_lines(text: str) -> list[str]:
    """Text as lines that show all they hold, each with its own indentation. Total, as `visible_line` is."""
    return [_indented(line) for line in _LINE_ENDS.split(text)]


def _indented(line: str) -> str:
    spaced = line.expandtabs(4)
    indent = min(len(spaced) - len(spaced.lstrip(" ")), _MAX_INDENT)
    return (" " * indent + visible_line(spaced)).rstrip()


def refuse_surrogates(argument: str, text: str) -> None:
    """Raise `InvalidInput` for text that no store can hold, because UTF-8 cannot."""
    if found := _SURROGATE.search(text):
        raise InvalidInput.of(
            argument,
            f"holds half of a surrogate pair (U+{ord(found[0]):04X}) at position {found.start()}; send whole ones",
        )


def normal_text(text: str, max_chars: int, argument: str = "fact") -> str:
    """A fact as it is stored: one visible line of 1 to `max_chars` code points, counted after normalising.

    Raises:
        InvalidInput: blank, too long or holding a lone surrogate. It is never cut.
    """
    refuse_surrogates(argument, text)
    line = visible_line(text)
    if not line:
        raise InvalidInput.of(argument, "is blank; say the fact in one line")
    if len(line) > max_chars:
        raise InvalidInput.of(
            argument,
            f"has {len(line)} characters and the limit is {max_chars}; nothing was stored. "
            "State it shorter, or split it into several facts under keys of their own",
        )
    return line


def normal_key(key: str, argument: str = "key") -> str:
    """A key as it is stored: trimmed, inner whitespace collapsed, case kept, 1 to 100 code points.

    Raises:
        InvalidInput: blank, too long, or holding `[`, `]`, `:` or a control character.
    """
    refuse_surrogates(argument, key)
    collapsed = _SPACES.sub(" ", unicodedata.normalize("NFC", key)).strip()
    if any(unicodedata.category(char) == "Cc" for char in collapsed):
        raise InvalidInput.of(argument, f"holds a control character: {echo(key)}")
    # Once more: a character that shows nothing may have stood between two spaces.
    line = _SPACES.sub(" ", visible_line(collapsed))
    if not line:
        raise InvalidInput.of(argument, "is blank; name what the fact is about, such as fiscal-year")
    if len(line) > MAX_KEY_CHARS:
        raise InvalidInput.of(argument, f"has {len(line)} characters and the limit is {MAX_KEY_CHARS}")
    if wrong := sorted(set(line) & set("[]:")):
        raise InvalidInput.of(argument, f"holds {' '.join(wrong)} which no key may; use a hyphen: {echo(line)}")
    return line


def normal_tags(tags: Iterable[str], argument: str = "tags") -> tuple[str, ...]:
    """Tags as they are stored: visible, trimmed, without doubles, in the order given.

    Raises:
        InvalidInput: more than 16, or one that is blank or longer than 40 code points.
    """
    kept: dict[str, None] = {}
    for tag in tags:
        refuse_surrogates(argument, tag)
        line = _SPACES.sub(" ", visible_line(tag))
        if not line:
            raise InvalidInput.of(argument, "holds a blank tag")
        if len(line) > MAX_TAG_CHARS:
            raise InvalidInput.of(
                argument, f"holds one of {len(line)} characters and the limit is {MAX_TAG_CHARS}: {echo(line)}"
            )
        kept[line] = None
    if len(kept) > MAX_TAGS:
        raise InvalidInput.of(argument, f"has {len(kept)} entries and the limit is {MAX_TAGS}")
    return tuple(kept)


def check_validity(valid_from: str | None, valid_to: str | None) -> None:
    """Refuse a fact that ends before it begins.

    Raises:
        InvalidInput: with both instants.
    """
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise InvalidInput.of("valid_to", f"({valid_to}) is before valid_from ({valid_from}); swap or drop one")
