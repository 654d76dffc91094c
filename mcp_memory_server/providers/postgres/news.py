"""What is new at scopes since they were held in memory, or all of them: ranking rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from mcp_memory_server.providers.held import Held, Scope
from mcp_memory_server.providers.signatures import signature_of

from .columns import COLUMNS, record_of
from .connection import Transaction
from .names import told
from .narrowing import conditions_among, conditions_at

if TYPE_CHECKING:
    from mcp_memory_server.providers.shown import Conditions
    from mcp_memory_server.ranking import Row

_ROW: Final = """
signature.scope_id, signature.number, signature.key, signature.thread, signature.time_ms, signature.lexical,
CASE WHEN signature.embedder = $2 THEN signature.pooled END
"""
_WHOLE: Final = f"SELECT {_ROW} FROM signature WHERE signature.scope_id = ANY($1)"
_CHANGED: Final = f"SELECT {_ROW} FROM signature WHERE signature.scope_id = $1 AND signature.generation > $3"
_GONE: Final = "SELECT removal.number FROM removal WHERE removal.scope_id = $1 AND removal.generation > $2"
_RECORDS: Final = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number FROM unnest($1::uuid[], $2::bigint[]) AS wanted (place, number)
JOIN memory ON memory.scope_id = wanted.place AND memory.number = wanted.number WHERE memory.scope_id = ANY($1)
"""


@dataclass(frozen=True, slots=True)
class News:
    """What brings the held state `since` to the scope's generation, as it was read; all of the scope where none is."""

    scope: Scope[UUID]
    since: Held | None
    rows: list[Sequence[Any]] = field(default_factory=list[Sequence[Any]])
    gone: list[int] = field(default_factory=list[int])
    conditions: dict[int, Conditions] = field(default_factory=dict[int, "Conditions"])
    outdated: dict[int, Sequence[Any]] = field(default_factory=dict[int, Sequence[Any]])
    """By number the records of rows whose signature another release wrote in another form."""

    def held(self, language: str | None) -> Held:
        """The scope up to date."""
        rows = [self._row(row, language) for row in self.rows]
        if self.since is None:
            rows.sort(key=lambda row: row.number)
            return Held.whole(self.scope.generation, rows, self.conditions)
        return self.since.brought_to(self.scope.generation, rows, self.gone, self.conditions)

    def _row(self, columns: Sequence[Any], language: str | None) -> Row:
        from mcp_memory_server.ranking import Row  # noqa: PLC0415  # numpy, after the handshake

        _, number, key, thread, time_ms, lexical, pooled = columns
        outdated = self.outdated.get(number)
        if outdated is not None:  # `doctor` writes it anew for good
            lexical = signature_of(record_of(self.scope.token, outdated), language)
        return Row(number, told(key), told(thread), time_ms, lexical, pooled)


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
    await _read_outdated(db, news)
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
    news.conditions.update(await conditions_among(db, place, [row[1] for row in news.rows]))


async def _read_outdated(db: Transaction, news: Mapping[UUID, News]) -> None:
    from mcp_memory_server.ranking import SIGNATURE_VERSION  # noqa: PLC0415  # numpy, after the handshake

    outdated = [row[:2] for one in news.values() for row in one.rows if row[5][0] != SIGNATURE_VERSION]
    if outdated:
        places, numbers = zip(*outdated, strict=True)
        for row in await db.rows(_RECORDS, list(places), list(numbers)):
            news[row[-2]].outdated[row[-1]] = row
