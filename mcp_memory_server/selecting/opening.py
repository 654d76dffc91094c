"""From a setting to a selector."""

from __future__ import annotations

from mcp_memory_server.errors import ConfigurationError, echo
from mcp_memory_server.recall import Selector


def open_selector(setting: str, api_key: str | None = None) -> Selector:
    """The selector that a setting names; nothing is sent yet.

    ``openai:MODEL@BASE_URL``  a service that answers `POST BASE_URL/chat/completions`; `api_key` is sent to it

    Raises:
        ConfigurationError: any other form.
    """
    model, base_url = check_selector_setting(setting)
    from .endpoint import EndpointSelector  # noqa: PLC0415  # an HTTP client, only where one is configured

    return EndpointSelector(base_url, model, api_key)


def check_selector_setting(setting: str) -> tuple[str, str]:
    """The model and the base URL of a setting, without loading anything.

    Raises:
        ConfigurationError: not of the form of `open_selector`.
    """
    kind, _, place = setting.partition(":")
    model, _, base_url = place.partition("@")
    if kind != "openai" or not model or not base_url.startswith(("http://", "https://")):
        raise ConfigurationError(f"selector {echo(setting)} is not of the form openai:MODEL@BASE_URL.")
    return model, base_url
