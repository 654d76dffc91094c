"""What is measured: methods, tools and codes, and nothing that anybody wrote."""

from collections.abc import Mapping
from typing import Any

import pytest
from mcp.client import Client
from opentelemetry import metrics
from opentelemetry.metrics import Histogram, Meter, NoOpMeter

from mcp_memory_server import build_server
from mcp_memory_server.identity import Actor
from mcp_memory_server.service import MemoryService

from .answers import called


class _Kept(Histogram):
    def __init__(self, labels: list[Mapping[str, Any]]) -> None:
        self._labels = labels

    def record(self, amount: float, attributes: Any = None, context: Any = None) -> None:
        assert amount >= 0
        self._labels.append(dict(attributes or {}))


class _Meter(NoOpMeter):
    def __init__(self, labels: list[Mapping[str, Any]]) -> None:
        super().__init__("test")
        self._labels = labels

    def create_histogram(self, *_: Any, **__: Any) -> Histogram:
        return _Kept(self._labels)


async def test_requests_are_counted_by_method_tool_and_code(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels: list[Mapping[str, Any]] = []

    def get_meter(_: str) -> Meter:
        return _Meter(labels)

    monkeypatch.setattr(metrics, "get_meter", get_meter)
    async with Client(build_server(service, actor=Actor("ann")), mode="legacy") as client:
        await called(client, "remember", key="office", fact="Lyon")
        await client.call_tool("forget", {"key": "Porto"})
        await client.call_tool("Brno", {})
    counted = [shown for shown in labels if shown["mcp.method.name"] == "tools/call"]
    assert counted == [
        {"mcp.method.name": "tools/call", "gen_ai.tool.name": "remember"},
        {"mcp.method.name": "tools/call", "gen_ai.tool.name": "forget", "error.type": "not_found"},
        {"mcp.method.name": "tools/call", "error.type": "not_found"},
    ]
    assert not {"Lyon", "Porto", "Brno", "office"} & {str(value) for shown in labels for value in shown.values()}
