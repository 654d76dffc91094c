"""From settings to a service: what is configured for recall is what it works with."""

import logging
import time
from typing import Any

import pytest

from mcp_memory_server.config import Settings
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.opening import open_service
from mcp_memory_server.recall import Block, Degrade, DegradeReason, estimate_tokens
from mcp_memory_server.service import MemoryService
from tests.selecting.stub_service import Answer, completes, serving

ANN = RequestContext(Actor("ann"))


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def settings(**given: Any) -> Settings:
    return Settings(url="memory://", actor="ann", **given)


async def fill(service: MemoryService) -> None:
    for key, fact in (("office", "Lyon"), ("lunch", "Noodles"), ("tea", "Green")):
        await service.remember(ANN, key, fact)


async def test_the_configured_selector_picks_with_its_key_and_is_loaded_by_the_first_turn() -> None:
    with serving(completes("[]")) as model:
        configured = settings(selector=f"openai:small@{model.url}", selector_api_key="k3y", selective_over=2)
        async with open_service(configured) as service:
            await fill(service)
            assert model.asked == []
            manifest = await service.recall(ANN, mode="manifest")
            office = next(entry.id for entry in (await service.peek(ANN, 9)).entries if entry.key == "office")
            model.answer = completes(f'["{office}"]')
            recalled = await service.recall(ANN, objective="where does Ann work")
    assert manifest.name == "manifest"
    assert isinstance(recalled.outcome, Block)
    assert [entry.key for entry in recalled.offered.digest.entries] == ["office"]
    assert model.keys == ["Bearer k3y"]


def _hang(_: object) -> None:
    """Answers nothing until the client is gone."""
    time.sleep(1)


@pytest.mark.parametrize(
    ("answer", "timeout_s", "reason"),
    [(_hang, 0.2, "selector_timed_out"), (completes("no array"), 5, "selector_failed")],
)
async def test_a_configured_selector_that_fails_shows_the_whole_block_and_is_logged(
    answer: Answer, timeout_s: float, reason: DegradeReason, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(answer) as model, caplog.at_level(logging.WARNING):
        configured = settings(selector=f"openai:m@{model.url}", selector_timeout_s=timeout_s, selective_over=2)
        async with open_service(configured) as service:
            await fill(service)
            recalled = await service.recall(ANN, objective="where does Ann work")
    assert recalled.outcome == Degrade(reason)
    assert {entry.key for entry in recalled.offered.digest.entries} == {"office", "lunch", "tea"}
    assert reason in caplog.text
    assert "Lyon" not in caplog.text


async def test_the_configured_estimator_is_what_max_tokens_goes_by() -> None:
    texts: list[str] = []
    for estimator in (None, "chars:1"):
        async with open_service(settings(token_estimator=estimator)) as service:
            await fill(service)
            texts.append(service.block(await service.offer(ANN, max_tokens=150)))
    by_ours, by_chars = texts
    assert estimate_tokens(by_ours) <= 150 < len(by_ours)
    assert len(by_chars) <= 150


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"selector": "small"}, "The setting selector (default) cannot work: selector 'small' is not of the form"),
        ({"token_estimator": "words"}, "The setting token_estimator (default) cannot work:"),
    ],
)
async def test_a_setting_that_cannot_work_is_told_at_the_start(given: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        async with open_service(settings(**given)):
            pass
    assert told in str(error.value)
