"""The data of an answer, which take another way than the rest of it."""

import anyio
import mcp_types as types
import pytest

from mcp_memory_server.server.structured import wire_form
from mcp_memory_server.service import MemoryService
from tests.people import ANN

from .answers import data_of
from .conftest import Connect

DATA: dict[str, object] = {"found": [{"key": "tea", "tags": []}]}


@pytest.mark.parametrize("data", [None, DATA])
def test_a_result_by_itself_is_whole(data: dict[str, object] | None) -> None:
    result = types.CallToolResult(content=[types.TextContent(type="text", text="Tea.")], structured_content=data)
    assert types.CallToolResult.model_validate(wire_form(result)) == result


async def test_calls_at_once_get_their_own_data(connect: Connect, service: MemoryService) -> None:
    names = ["Lyon", "Porto", "Oslo", "Accra"]
    for name in names:
        await service.remember(ANN, f"office {name}", f"The office in {name}")
    found: dict[str, list[str]] = {}
    async with connect(service) as client, anyio.create_task_group() as tasks:

        async def ask(name: str) -> None:
            result = await client.call_tool("recall_digest", {"query": name, "max_memories": 1})
            found[name] = [entry["key"] for entry in data_of(result)["entries"]]

        for name in names:
            tasks.start_soon(ask, name)
    assert found == {name: [f"office {name}"] for name in names}
