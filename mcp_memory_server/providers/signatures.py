"""What ranking reads of a record: the same for every provider, so that equal records rank equally."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mcp_memory_server import ranking
from mcp_memory_server.derived import Derived
from mcp_memory_server.errors import ConfigurationError, echo
from mcp_memory_server.records import MemoryRecord

from .base import Filter, SearchRequest, WriteRequest

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Question, Row, TokenSource

_BEHIND_ALL: Final = 1 << 60
"""A number that no store gives to a record of its own."""

UNSIGNED: Final = b"\0"
"""What a store may hold in the place of a signature that is still to be made.

To every release it is one of another form, and so whoever reads it makes that of the record.
"""


def check_language(language: str | None) -> None:
    """Refuse a language that there is neither a stemmer nor stop words for.

    Raises:
        ConfigurationError: naming those that there are.
    """
    if language is None:
        return
    known = ranking.known_languages()
    if language not in known:
        raise ConfigurationError(f"There is no language {echo(language)}. Known: {', '.join(known)}.")


def signature_of(fact: MemoryRecord | WriteRequest, language: str | None = None) -> bytes:
    """The signature of a record, or of the record that a write will make; None detects the language of its text."""
    return ranking.encode_signature(
        key=fact.key, text=fact.text, tags=fact.tags, subject=fact.subject, language=language
    )


def is_outdated(lexical: bytes) -> bool:
    """Whether it is UNSIGNED, or a signature of an earlier release's form: one of this release's should be there."""
    return lexical[0] < ranking.SIGNATURE_VERSION


def epoch_ms(instant: str) -> int:
    """Milliseconds since 1970 UTC; rounded, because a float holds most of them a little too low."""
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def ranking_question(request: SearchRequest, language: str | None, token_source: TokenSource) -> Question:
    """What is asked of the ranking engine.

    `token_source` gives the token vectors of records by (place of the block, number), where vectors are asked for.
    """
    return ranking.Question(
        request.query,
        datetime.fromisoformat(request.at),
        request.embedded and replace(request.embedded.vectors, token_source=token_source),
        language,
        with_unrelated=request.with_unrelated,
        with_signals=request.with_signals,
    )


def ranking_row(number: int, record: MemoryRecord, language: str | None = None) -> Row:
    """The row of a record under the store's own number for it, which rises in the order of first writing."""
    return ranking.Row(
        number=number,
        key=record.key,
        origin_thread=record.origin.thread_id,
        time_ms=epoch_ms(record.updated_at),
        signature=signature_of(record, language),
    )


def numbered(versions: Iterable[tuple[int, MemoryRecord]], asked: Filter) -> dict[int, MemoryRecord]:
    """Versions that are no rows of a block, by the numbers under which they are ranked in it.

    Each is given with the number of its record and takes that record's place; where every version is asked for, they
    stand behind all records, in one and the same order in every store.
    """
    if asked.as_of is not None or not asked.include_superseded:
        return dict(versions)
    ordered = sorted(versions, key=lambda placed: (placed[0], placed[1].version))
    return {number: record for number, (_, record) in enumerate(ordered, start=_BEHIND_ALL)}


def words_in_common(question: str, records: Iterable[MemoryRecord]) -> list[list[str]]:
    """For each record those of the words that the question looks for which it holds, in any of their forms.

    They are given as they were asked (folded), in order. The language is detected, of questions and of records: where
    a store has one of its own, a form may be missed.
    """
    asked = [(forms[0], forms[-1]) for forms in ranking.read_query(question).words]
    shared: list[list[str]] = []
    for held in _forms_of.of_each(records):
        words: list[str] = []
        for word, stem in asked:
            if word in held or stem in held:
                words.append(word)
        shared.append(words)
    return shared


def _made_forms(record: MemoryRecord) -> frozenset[str]:
    """All forms of a record's words."""
    passage = "\n".join(part for part in (record.key, record.text, *record.tags, record.subject) if part)
    # A set of a set takes half of what one takes that grew word by word.
    return frozenset({form for forms in ranking.forms_of_text(passage) for form in forms})


_forms_of: Final = Derived[MemoryRecord, frozenset[str]](_made_forms)
