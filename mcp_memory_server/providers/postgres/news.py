"""What is new at scopes since they were held in memory, or all of them: ranking rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from mcp_memory_server.providers.held import Held, Scope
from mcp_memory_server.providers.rows import RECORD_COLUMNS
from mcp_memory_server.providers.signatures import signature_of

from .columns import COLUMNS, record_of
from .connection import Transaction
from .names import told
from .narrowing import CONDITION_COLUMNS, conditions_among, conditions_at, conditions_of

if TYPE_CHECKING:
    from mcp_memory_server.providers.shown import Conditions
    from mcp_memory_server.ranking import Row
    from mcp_memory_server.records import MemoryRecord

_ROW: Final = """
signature.scope_id, signature.number, signature.key, signature.thread, signature.time_ms, signature.lexical,
CASE WHEN signature.embedder = $2 THEN signature.pooled END
"""
_WHOLE: Final = f"SELECT {_ROW} FROM signature WHERE signature.scope_id = ANY($1)"
_CHANGED: Final = f"SELECT {_ROW} FROM signature WHERE signature.scope_id = $1 AND signature.generation > $3"
_GONE: Final = "SELECT removal.number FROM removal WHERE removal.scope_id = $1 AND removal.generation > $2"
_RECORDS: Final = f"""
SELECT {COLUMNS}, memory.number, {CONDITION_COLUMNS} FROM memory
WHERE memory.scope_id = $1 AND memory.number = ANY($2::bigint[])
"""
_FEW: Final = 64
"""As many that changed are decoded at once; of more, as after an import, few will be asked about."""


@dataclass(frozen=True, slots=True)
class News:
    """What brings the held state `since` to the scope's generation, as it was read; all of the scope where none is."""

    scope: Scope[UUID]
    since: Held | None
    rows: list[Sequence[Any]] = field(default_factory=list[Sequence[Any]])
    gone: list[int] = field(default_factory=list[int])
    conditions: dict[int, Conditions] = field(default_factory=dict[int, "Conditions"])
    records: dict[int, Sequence[Any]] = field(default_factory=dict[int, Sequence[Any]])
    """By number what was read of the records too: of the few that changed, and of those that are signed anew."""

    def held(self, language: str | None) -> Held:
        """The scope up to date."""
        records = {number: record_of(self.scope.token, row) for number, row in self.records.items()}
        rows = [_row_of(row, records, language) for row in self.rows]
        if self.since is None:
            rows.sort(key=lambda row: row.number)
            held = Held.whole(self.scope.generation, rows, self.conditions)
        else:
            held = self.since.brought_to(self.scope.generation, rows, self.gone, self.conditions)
        held.records.update(records)
        return held


def _row_of(columns: Sequence[Any], records: Mapping[int, MemoryRecord], language: str | None) -> Row:
    from mcp_memory_server.ranking import Row  # noqa: PLC0415  # numpy, after the handshake

    _, number, key, thread, time_ms, lexical, pooled = columns
    if _is_outdated(lexical):  # `doctor` writes it anew for good
        lexical = signature_of(records[number], language)
    return Row(number, told(key), told(thread), time_ms, lexical, pooled)


def _is_outdated(lexical: bytes) -> bool:
    """Whether another release wrote the signature in another form."""
    from mcp_memory_server.ranking import SIGNATURE_VERSION  # noqa: PLC0415  # numpy, after the handshake

    return lexical[0] != SIGNATURE_VERSION


async def read_news(
    db: Transaction, scopes: Sequence[Scope[UUID]], held: Sequence[Held | None], embedder: str | None
) -> list[Held | News]:
    """For each scope what is held of it, if that is up to date, else what is new.

    Args:
        scopes: as the running transaction sees them.
        held: what is held of each, of whichever generation.
        embedder: whose vectors come along, as columns name it.
    """
    kept: list[Held | News] = []
    for scope, one in zip(scopes, held, strict=True):
        if one is not None and one.generation == scope.generation:
            kept.append(one)
        else:  # where a later generation is held than this transaction sees, all is read
            kept.append(News(scope, one if one is not None and one.generation < scope.generation else None))
    news = {one.scope.id: one for one in kept if isinstance(one, News)}
    await _read_whole(db, [one for one in news.values() if one.since is None], embedder)
    for one in news.values():
        if one.since is not None:
            await _read_changed(db, one, one.since.generation, embedder)
        await _read_outdated(db, one)
    return kept


async def _read_whole(db: Transaction, news: Sequence[News], embedder: str | None) -> None:
    if not news:
        return
    by_place = {one.scope.id: one for one in news}
    for row in await db.rows(_WHOLE, list(by_place), embedder):
        by_place[row[0]].rows.append(row)
    for place, conditions in (await conditions_at(db, by_place)).items():
        by_place[place].conditions.update(conditions)


async def _read_changed(db: Transaction, news: News, since: int, embedder: str | None) -> None:
    """One scope by itself, with a generation that the planner sees: so it knows that little will come."""
    place = news.scope.id
    news.rows.extend(await db.rows(_CHANGED, place, embedder, since))
    news.gone.extend(number for (number,) in await db.rows(_GONE, place, since))
    numbers = [row[1] for row in news.rows]
    if len(numbers) > _FEW:
        news.conditions.update(await conditions_among(db, place, numbers))
        return
    # What was just written is likely to be asked about: its text comes along.
    for row in await db.rows(_RECORDS, place, numbers) if numbers else ():
        number, *conditions = row[len(RECORD_COLUMNS) :]
        news.records[number] = row
        if (found := conditions_of(conditions)) is not None:
            news.conditions[number] = found


async def _read_outdated(db: Transaction, news: News) -> None:
    numbers = [row[1] for row in news.rows if row[1] not in news.records and _is_outdated(row[5])]
    if numbers:
        for row in await db.rows(_RECORDS, news.scope.id, numbers):
            news.records[row[len(RECORD_COLUMNS)]] = row
