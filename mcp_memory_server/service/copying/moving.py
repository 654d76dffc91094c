"""Records on their way: scope by scope, or those that the change feed names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import AuditLine, ForgetRequest, RestoreRequest, reports_changes
from mcp_memory_server.records import MemoryRecord

from .comparing import Known, Pair, Plan, Tally, Versions, planned
from .ends import CopyRequest, Ends
from .outcome import Compared, Gauge, Ledger
from .reading import BATCH, pairs_at, pairs_of

_MOST_REPAIRS: Final = 3
"""How often a scope that differs is looked at again."""
_MOST_ROUNDS: Final = 10
"""How often changes are followed that come while those before are followed."""


@dataclass(slots=True)
class Mover:
    """Makes the target hold what the source does. Counts what it did."""

    request: CopyRequest
    ends: Ends
    restored: int = 0
    forgotten: int = 0
    pending: int = 0
    cursor: int | None = None
    """In the source's change feed: what came before was looked at."""
    _waiting: list[Versions] = field(default_factory=list[Versions])

    async def scopes(self) -> Sequence[str]:
        """Every scope that either end has records at, in order of name."""
        return sorted({*await self.ends.source.scopes(), *await self.ends.target.scopes()})

    async def copy(self, scopes: Sequence[str], gauge: Gauge) -> None:
        """Fill an empty target."""
        for scope in scopes:
            async with aclosing(pairs_at(self.ends.source, None, scope)) as pairs:
                async for pair in pairs:
                    self._waiting += pair.source
                    gauge.advance(len(pair.source))
                    if len(self._waiting) >= BATCH:
                        await self._flush()
        await self._flush()
        gauge.tell()

    async def verify(self, scopes: Sequence[str], gauge: Gauge) -> Ledger:
        """Compare everything, and put right what differs until nothing does, or somebody is always quicker."""
        ledger = Ledger()
        there = set(await self.ends.target.scopes())
        for scope in scopes:
            compared = await self._compared(scope, scope in there, gauge)
            for _ in range(_MOST_REPAIRS):
                if not compared.plan.asks_for_work:
                    break
                compared = await self._compared(scope, target_has=True)
            ledger.take(scope, compared)
        gauge.tell()
        return ledger

    async def begin_following(self) -> None:
        """Let what the source's change feed tells from now on be followed."""
        if reports_changes(self.ends.source):
            self.cursor = (await self.ends.source.changes(None)).cursor

    async def follow(self) -> tuple[int, bool]:
        """Do what was done at the source since; how many changes that were, and whether some were missed."""
        source = self.ends.source
        followed = 0
        if not reports_changes(source):
            return 0, False
        for _ in range(_MOST_ROUNDS):
            batch = await source.changes(self.cursor)
            self.cursor = batch.cursor
            if batch.gap:
                return followed, True
            if not batch.changes:
                break
            by_scope: dict[str, dict[str, None]] = {}
            for change in batch.changes:
                by_scope.setdefault(change.scope, {})[change.id] = None
            followed += sum(map(len, by_scope.values()))
            for scope, ids in by_scope.items():
                await self._follow_at(scope, list(ids))
        return followed, False

    async def _follow_at(self, scope: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH):
            part = ids[start : start + BATCH]
            # What the feed names was the source's: not there any more, it must not be at the target either.
            await self._do(await self._plan(await pairs_of(self.ends.source, self.ends.target, scope, part), part))

    async def _compared(self, scope: str, target_has: bool, gauge: Gauge | None = None) -> Compared:
        """Look at a scope and do what that asks for: it is told as it was found."""
        found = Compared(Tally(), Tally(), Plan())
        differing: list[Pair] = []
        size = 0
        there = self.ends.target if target_has else None
        async with aclosing(pairs_at(self.ends.source, there, scope)) as pairs:
            async for pair in pairs:
                self._tally(pair, found)
                if gauge is not None:
                    gauge.advance(len(pair.source))
                if list(pair.source) != list(pair.target):
                    differing.append(pair)
                    size += len(pair.source) + len(pair.target)
                if size >= BATCH:
                    await self._settle(differing, found)
                    size = 0
        await self._settle(differing, found)
        return found

    def _tally(self, pair: Pair, found: Compared) -> None:
        ours = {_id_of(versions) for versions in pair.source}
        for versions in sorted(pair.source, key=_id_of):
            found.source.take(versions)
        for versions in sorted(pair.target, key=_id_of):
            if _id_of(versions) in ours or not self.request.merge:
                found.target.take(versions)

    async def _settle(self, differing: list[Pair], found: Compared) -> None:
        plan = await self._plan(differing)
        differing.clear()
        await self._do(plan)
        # One of each says that there was something to do: a scope may ask for more than memory holds.
        found.plan.add(replace(plan, restore=plan.restore[:1], forget=plan.forget[:1]))

    async def _plan(self, pairs: Sequence[Pair], told: Collection[str] = ()) -> Plan:
        """What is to be done about keys of one scope. `told` are ids that the change feed named."""
        whole = Plan()
        if not pairs:
            return whole
        scope = pairs[0].scope
        extra = [_id_of(versions) for pair in pairs for versions in pair.extra]
        missing = [] if self.ends.fresh else [_id_of(versions) for pair in pairs for versions in pair.missing]
        at_source, at_target = await self._audited(scope, extra, missing)
        known = Known({*told, *(line.id for line in at_source)}, {line.id for line in at_target})
        for pair in pairs:
            whole.add(planned(pair, known))
        return whole

    async def _audited(
        self, scope: str, extra: Sequence[str], missing: Sequence[str]
    ) -> tuple[Sequence[AuditLine], Sequence[AuditLine]]:
        """The source's lines about what only the target has, and the target's own about what only the source has.

        A line that both hold is about an older record of that id, which the source took in again since.
        """
        if (carriers := self.ends.carriers) is None:
            return (), ()
        source, target = carriers
        gone = await source.audited(scope, extra) if extra else ()
        erased = await target.audited(scope, missing) if missing else ()
        if erased:
            shared = set(await source.audited(scope, [line.id for line in erased]))
            erased = tuple(line for line in erased if line not in shared)
        return gone, erased

    async def _do(self, plan: Plan) -> None:
        if plan.forget:
            await self._forget(plan.forget)
        self._waiting += plan.restore
        await self._flush()

    async def _forget(self, records: Sequence[MemoryRecord]) -> None:
        lines = {}
        if self.ends.carriers is not None:
            source, _ = self.ends.carriers
            lines = {
                line.id: line for line in await source.audited(records[0].scope, [record.id for record in records])
            }
        for record in records:
            line = lines.get(record.id) or AuditLine(
                record.scope, record.id, self.request.by, self.request.now(), "gone at the source of a copy"
            )
            gone = await self.ends.target.forget(ForgetRequest(line.scope, line.id, line.by, line.at, line.reason))
            if gone is not None:
                self.forgotten += 1
                self.pending += gone.erasure == "pending"

    async def _flush(self) -> None:
        while self._waiting:
            batch = tuple(self._waiting[:BATCH])
            await self._restore(batch)
            del self._waiting[:BATCH]

    async def _restore(self, batch: Sequence[Versions]) -> None:
        target, at = self.ends.target, self.request.now()
        if not self.request.merge:
            self.restored += await target.restore(RestoreRequest(tuple(batch), at))
            return
        scopes = tuple({versions[-1].scope for versions in batch})
        try:
            self.restored += await target.restore(RestoreRequest(tuple(batch), at, replace_at=scopes))
        except InvalidInput:
            if len(batch) == 1:
                return  # the target has that id elsewhere: left as it is, and told as a difference
            for versions in batch:
                await self._restore((versions,))


def _id_of(versions: Versions) -> str:
    return versions[-1].id
