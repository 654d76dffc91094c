"""A store that cannot be written: nothing that the server says asks for the impossible."""

from collections.abc import Sequence

from mcp import Client

from mcp_memory_server import Actor, MemoryService, build_server
from mcp_memory_server.providers.base import Capabilities, ForgetRequest, Forgotten, Listing, ListRequest


class ReadOnlyProvider:
    """What every provider does, and nothing else."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities("read-only")

    async def list(self, request: ListRequest) -> Listing:
        return Listing((), 0, 0)

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        return None


def told(parts: Sequence[str | None]) -> str:
    return "\n".join(part or "" for part in parts)


async def test_remember_is_neither_offered_nor_mentioned() -> None:
    server = build_server(MemoryService(ReadOnlyProvider()), actor=Actor("ann"))
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        prompts = [await client.get_prompt(name, {}) for name in ("load_memory", "review_memory")]
    assert "remember" not in {tool.name for tool in tools}
    descriptions = [tool.description for tool in tools]
    texts = [
        message.content.text for prompt in prompts for message in prompt.messages if message.content.type == "text"
    ]
    spoken = told([server.instructions, *descriptions, *texts])
    assert "call remember" not in spoken
    assert "call `remember`" not in spoken
    assert "recall_digest" in spoken
