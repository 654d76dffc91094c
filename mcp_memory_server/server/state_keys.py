"""The keys that seal what a client brings back with a person's answer, where several processes share them.

A question may be asked by one process and its answer arrive at another: that one believes the answer only if it can
open the seal. By default each process has a key of its own, which nobody else ever sees.
"""

from __future__ import annotations

from typing import Final

from mcp_memory_server.config import Settings
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.setting_files import content_of

MIN_KEY_BYTES: Final = 32
_MAKE: Final = "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"


def read_state_keys(settings: Settings) -> tuple[str, ...]:
    """The shared keys: the first one seals, all of them open. None where each process is to have its own.

    Raises:
        ConfigurationError: both settings are given, the file cannot be read, or a key is short or there twice. No
            message shows a key.
    """
    if settings.state_keys is not None and settings.state_keys_file is not None:
        raise ConfigurationError(
            f"The settings state_keys ({settings.origin('state_keys')}) and state_keys_file "
            f"({settings.origin('state_keys_file')}) are both given: keep one of them."
        )
    if settings.state_keys is not None:
        return _checked(settings.state_keys.get_secret_value().split(","), "state_keys", settings)
    if settings.state_keys_file is not None:
        text = content_of("state_keys_file", settings.origin("state_keys_file"), settings.state_keys_file)
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        return _checked(lines, "state_keys_file", settings)
    return ()


def _checked(given: list[str], name: str, settings: Settings) -> tuple[str, ...]:
    keys = [key for each in given if (key := each.strip())]
    setting = f"The setting {name} ({settings.origin(name)})"
    if not keys:
        raise ConfigurationError(f"{setting} holds no key; {_MAKE}")
    for number, key in enumerate(keys, 1):
        if (size := len(key.encode("utf-8", "surrogatepass"))) < MIN_KEY_BYTES:
            raise ConfigurationError(
                f"{setting} has key {number} with {size} bytes; a key has {MIN_KEY_BYTES} at least; {_MAKE}"
            )
        if key in keys[: number - 1]:
            raise ConfigurationError(f"{setting} has key {number} twice; leave one of the two out.")
    return tuple(keys)
