"""Rules: recording them, and counting how they fare."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.kinds import Form
from mcp_memory_server.kinds.rules import is_proven, normal_rule, rule_text, rule_words, with_outcome
from mcp_memory_server.policy import waits_for_provenance_alone
from mcp_memory_server.providers.base import ListRequest
from mcp_memory_server.records import MemoryRecord, Rule, normal_key
from mcp_memory_server.service.promotion import promote
from mcp_memory_server.service.remember import Remembered, RememberRequest
from mcp_memory_server.service.trust import refuse_credentials
from mcp_memory_server.service.wiring import Wiring

from .recording import ASSISTANT, Writer, record, revise


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rule after a trial. `counted` is false for a further success of the same conversation."""

    record: MemoryRecord
    counted: bool
    promoted: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    wiring: Wiring

    async def record(
        self,
        context: RequestContext,
        key: str,
        rule: Rule,
        induced: bool = False,
        writer: Writer = ASSISTANT,
    ) -> Remembered:
        """Record a rule. `induced` says that it was worked out from how something went, not told by anybody.

        The same rule again keeps what it has counted; another one under the key begins anew.

        Raises:
            InvalidInput: every part that is wrong, with its limit.
            CredentialRefused, Refused, Conflict, NotSupported: as `remember` does.
        """
        raw = {"rule": rule_words(rule)}
        refuse_credentials({"key": key, **raw})
        normal = normal_rule(rule.model_copy(update=_UNTRIED), self.wiring.limits.max_fact_chars)
        provenance = "induction" if induced and writer.author == "agent" else None
        counted = await self._counted(context, key, normal, writer)
        form = Form("procedural", provenance, rule=counted, raw=raw)
        request = RememberRequest(key, rule_text(normal), form=form)
        return await record(self.wiring, context, request, writer)

    async def report(self, context: RequestContext, id: str, *, succeeded: bool, writer: Writer = ASSISTANT) -> Outcome:
        """Count a trial of the rule; enough of them take an induced one out of quarantine.

        Raises:
            NotFound: no such memory.
            InvalidInput: it is no rule.
            Refused: the rule stands at a scope that the writer may not write at.
            Conflict, NotSupported
        """
        counted = False

        def change(found: MemoryRecord) -> MemoryRecord:
            nonlocal counted
            if found.rule is None:
                raise InvalidInput.of("id", "names a memory that is no rule; recall shows the ids of rules")
            after = with_outcome(found.rule, succeeded=succeeded, thread_id=context.thread_id)
            counted = after != found.rule
            return found.model_copy(update={"rule": after})

        after = await revise(self.wiring, context, id, change, writer)
        promoted = await self._promoted(context, after)
        return Outcome(promoted or after, counted, promoted is not None)

    async def _counted(self, context: RequestContext, key: str, rule: Rule, writer: Writer) -> Rule:
        """The rule with what it has counted, where it stands or waits as it is."""
        request = ListRequest((writer.target(context),), keys=(normal_key(key),), statuses=("active", "quarantined"))
        listing = await self.wiring.provider.list(request)
        same = (held.rule for held in listing.records if held.rule and held.rule.model_copy(update=_UNTRIED) == rule)
        return next(same, rule)

    async def _promoted(self, context: RequestContext, rule: MemoryRecord) -> MemoryRecord | None:
        """The rule as an active one, if it has proven itself and waited for nothing else."""
        if not waits_for_provenance_alone(rule) or not is_proven(rule, self.wiring.limits.promote_after):
            return None
        return await promote(self.wiring, context.actor, rule)


_UNTRIED = {"success_count": 0, "failure_count": 0, "succeeded_in": ()}
