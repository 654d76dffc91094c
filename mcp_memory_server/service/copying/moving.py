"""Records on their way: scope by scope, or those that the change feed names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    AuditLine,
    CarryingProvider,
    ForgetRequest,
    OrderPage,
    RestoreRequest,
    reports_changes,
)
from mcp_memory_server.records import MemoryRecord

from .comparing import Known, Pair, Plan, Tally, Versions, planned
from .ends import CopyRequest, Ends
from .outcome import Compared, Gauge, Ledger
from .reading import BATCH, pairs_at, pairs_of, records_of

_MOST_REPAIRS: Final = 3
"""How often a scope that differs is looked at again."""
_GONE: Final = "gone at the source of a copy"
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
        """Take along what the target has not, in the order in which it was first written where that is known."""
        if self.ends.carriers is not None:
            await self._copy_in_order(self.ends.carriers[0], gauge)
        elif self.ends.fresh:
            await self._copy_by_key(scopes, gauge)
        gauge.tell()

    async def _copy_in_order(self, source: CarryingProvider, gauge: Gauge) -> None:
        page = OrderPage((), None)
        while True:
            page = await source.in_order(BATCH, page.after)
            await self._take(page.names)
            gauge.advance(len(page.names))
            if page.after is None:
                return

    async def _take(self, names: Sequence[tuple[str, str]]) -> None:
        """Restore those of the records that the target has not, in this order."""
        order = {id: place for place, (_, id) in enumerate(names)}
        scopes = list(dict.fromkeys(scope for scope, _ in names))
        if not self.ends.fresh:
            held = await records_of(self.ends.target, scopes, list(order))
            for versions in held:
                order.pop(_id_of(versions), None)
        if not order:
            return
        if self.ends.fresh:
            plan = Plan(restore=list(await records_of(self.ends.source, scopes, list(order))))
        else:
            plan = await self._plan(await pairs_of(self.ends.source, self.ends.target, scopes, list(order)))
        plan.restore.sort(key=lambda versions: order.get(_id_of(versions), len(names)))
        await self._do(plan)

    async def _copy_by_key(self, scopes: Sequence[str], gauge: Gauge) -> None:
        for scope in scopes:
            async with aclosing(pairs_at(self.ends.source, None, scope)) as pairs:
                async for pair in pairs:
                    self._waiting += pair.source
                    gauge.advance(len(pair.source))
                    if len(self._waiting) >= BATCH:
                        await self._flush()
        await self._flush()

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
            changed = dict.fromkeys((change.scope, change.id) for change in batch.changes)
            followed += len(changed)
            names = list(changed)
            for start in range(0, len(names), BATCH):
                await self._follow(names[start : start + BATCH])
        return followed, False

    async def _follow(self, names: Sequence[tuple[str, str]]) -> None:
        scopes, ids = list(dict.fromkeys(scope for scope, _ in names)), [id for _, id in names]
        # What the feed names was the source's: not there any more, it must not be at the target either.
        await self._do(await self._plan(await pairs_of(self.ends.source, self.ends.target, scopes, ids), ids))

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
        """What is to be done about these keys. `told` are ids that the change feed named."""
        whole = Plan()
        by_scope: dict[str, list[Pair]] = {}
        for pair in pairs:
            by_scope.setdefault(pair.scope, []).append(pair)
        for scope, here in by_scope.items():
            extra = [_id_of(versions) for pair in here for versions in pair.extra]
            missing = [] if self.ends.fresh else [_id_of(versions) for pair in here for versions in pair.missing]
            at_source, at_target = await self._audited(scope, extra, missing)
            known = Known({*told, *(line.id for line in at_source)}, {line.id for line in at_target})
            for pair in here:
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
        """Erase them at the target in the name of whoever had it done at the source, as far as that is known."""
        for scope in dict.fromkeys(record.scope for record in records):
            ids = [record.id for record in records if record.scope == scope]
            said = {line.id: line for line in (await self._audited(scope, ids, ()))[0]}
            for id in ids:
                line = said.get(id) or AuditLine(scope, id, self.request.by, self.request.now(), _GONE)
                gone = await self.ends.target.forget(ForgetRequest(scope, id, line.by, line.at, line.reason))
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
