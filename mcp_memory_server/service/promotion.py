"""Making a fact of a rule that has proven itself, without a person: a trial may lead to it, and maintenance."""

from __future__ import annotations

from dataclasses import replace

from mcp_memory_server.errors import Conflict
from mcp_memory_server.identity import Actor
from mcp_memory_server.providers.base import SET_ASIDE_TOO, ListRequest, SettleRequest, can_review
from mcp_memory_server.records import MemoryRecord, active_lane, lane_of
from mcp_memory_server.upkeep import may_replace

from .wiring import Wiring


async def promote(wiring: Wiring, actor: Actor, record: MemoryRecord) -> MemoryRecord | None:
    """The rule as an active one; None where it goes on waiting.

    So it does where it, or what stands under its key, is another by now, and where that is a person's word, a pin or
    a rule that has worked as often (`may_replace`).
    """
    provider = wiring.provider
    if not can_review(provider):
        return None
    async with wiring.changing:
        request = ListRequest((record.scope,), keys=(record.key,), filter=SET_ASIDE_TOO)
        held = {lane_of(found): found for found in (await provider.list(request)).records}
        standing = held.get(active_lane(record.kind, record.origin.thread_id))
        if held.get(lane_of(record)) != record or not may_replace(record, standing):
            return None
        approval = SettleRequest(record.scope, record.id, "approve", wiring.now(), actor.id)
        try:
            settled = await provider.settle(replace(approval, if_version=standing.version if standing else 0))
        except Conflict:
            return None
    return settled and settled.record
