"""Insights: inferences over memories that the caller sees, and the votes on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory_server.digest import is_spent
from mcp_memory_server.errors import InvalidInput, echo
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.kinds import Form
from mcp_memory_server.kinds.insights import normal_insight, with_vote
from mcp_memory_server.policy import derivation_verdict
from mcp_memory_server.providers.base import ListRequest
from mcp_memory_server.records import Insight, MemoryRecord
from mcp_memory_server.service.remember import Remembered, RememberRequest
from mcp_memory_server.service.wiring import Wiring

from .recording import ASSISTANT, Writer, record, revise


@dataclass(frozen=True, slots=True)
class Insights:
    wiring: Wiring

    async def record(
        self,
        context: RequestContext,
        key: str,
        fact: str,
        cites: Sequence[str],
        writer: Writer = ASSISTANT,
    ) -> Remembered:
        """Record what was inferred from the memories that it cites.

        Raises:
            InvalidInput: nothing is cited, or what is cited is not there for the caller; every such id is named.
            Refused: something cited was written with extraction "skip", or as `remember` does.
            Conflict, NotSupported: as `remember` does.
        """
        insight = normal_insight(cites)
        await self._check_cited(context, insight)
        provenance = "reflection" if writer.author == "agent" else None
        form = Form("insight", provenance, derived_from=insight.cites, insight=insight)
        return await record(self.wiring, context, RememberRequest(key, fact, form=form), writer)

    async def vote(self, context: RequestContext, id: str, vote: int, writer: Writer = ASSISTANT) -> MemoryRecord:
        """Move the salience of an insight by +1 or -1. At 0 or less it is set aside, and shown to nobody any more.

        Raises:
            NotFound: no such memory.
            InvalidInput: it is no insight, or the vote is another number.
            Refused: it stands at a scope that the writer may not write at.
            Conflict, NotSupported
        """

        def change(found: MemoryRecord) -> MemoryRecord:
            if found.insight is None:
                raise InvalidInput.of("id", "names a memory that is no insight; recall shows the ids of insights")
            voted = found.model_copy(update={"insight": with_vote(found.insight, vote)})
            set_aside = (found.archived_at or self.wiring.now()) if is_spent(voted) else None
            because = f"salience {voted.insight and voted.insight.salience}; votes" if set_aside else None
            return voted.model_copy(update={"archived_at": set_aside, "archived_because": because})

        return await revise(self.wiring, context, id, change, writer)

    async def _check_cited(self, context: RequestContext, insight: Insight) -> None:
        scopes = tuple(await self.wiring.resolver.resolve(context))
        seen = replace(self.wiring.shown_now(context), at=None)
        listing = await self.wiring.provider.list(ListRequest(scopes, ids=insight.cites, filter=seen))
        found = [record for record in listing.records if record.scope in scopes]
        there = {record.id for record in found}
        if unknown := [id for id in insight.cites if id not in there]:
            raise InvalidInput.of(
                "cites", f"names no memory that is there for you: {', '.join(map(echo, unknown))}; recall shows the ids"
            )
        derivation_verdict(found).require()
