"""Store URLs as settings: out of a file that only the server reads, and shown without what is secret in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

from .errors import ConfigurationError
from .setting_files import content_of, file_of

FROM_FILES: Final = {"url": "url_file", "admin_url": "admin_url_file"}
"""Settings that may stand in a file, as orchestrators hand out secrets, and the settings that name it."""

_VERBATIM: Final = ("sqlite://", "memory://")
"""Of these all that follows is a path."""
_PASSWORD: Final = re.compile(r"(?<=://)([^/@:]*):.*@", re.DOTALL)
_PLAIN: Final = frozenset(
    {
        *("application_name", "database", "dbname", "host", "port", "service", "sslmode", "sslnegotiation"),
        *("ssl_max_protocol_version", "ssl_min_protocol_version", "target_session_attrs", "user"),
    }
)
"""Options of a URL whose values are nobody's secret."""


def shown(url: str) -> str:
    """A URL as it may be printed and logged: without what could be a password."""
    if url.startswith(_VERBATIM):
        return url
    before, mark, options = _PASSWORD.sub(r"\1:…@", url).partition("?")
    return before + mark + "&".join(map(_shown_option, options.split("&")))


def _shown_option(option: str) -> str:
    name, mark, value = option.partition("=")
    return option if unquote_plus(name) in _PLAIN or not value else f"{name}{mark}…"


def with_files_read(values: Mapping[str, Any], origins: Mapping[str, str]) -> dict[str, Any]:
    """The settings of one source, with the URLs that stand in files.

    Args:
        values: by setting.
        origins: how the source calls each.

    Raises:
        ConfigurationError: a file cannot be read, or the source gives a URL and a file of it.
    """
    read = dict(values)
    for name, by_file in FROM_FILES.items():
        path = values.get(by_file)
        if not isinstance(path, str) or not path.strip():
            continue
        if values.get(name):
            raise ConfigurationError(
                f"The settings {name} ({origins[name]}) and {by_file} ({origins[by_file]}) are both given: keep one."
            )
        read[name] = _content(path.strip(), by_file, origins[by_file])
    return read


def _content(path: str, setting: str, origin: str) -> str:
    content = content_of(setting, origin, path).strip()
    if not content or content.split() != [content]:
        raise ConfigurationError(f"{file_of(setting, origin, path)} has to hold the URL of a store, alone on one line.")
    return content
