"""Who asks in the tests, and which scopes apply to them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcp_memory_server.identity import Actor, RequestContext

ANN: Final = RequestContext(Actor("ann", "acme"), thread_id="th", run_id="rn")
ANN_IN_SHOP: Final = replace(ANN, project="shop")
BOB: Final = RequestContext(Actor("bob", "acme"))

ANNS_SCOPES: Final = ("actor:ann", "tenant:acme", "global")


@dataclass(slots=True)
class Membership:
    """A scope resolver whose table can be changed while requests come in."""

    scopes: Sequence[str]

    async def resolve(self, context: RequestContext) -> Sequence[str]:
        return self.scopes
