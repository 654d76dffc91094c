"""This machine's key for the seals of exports."""

from __future__ import annotations

import os
import secrets

from mcp_memory_server.config import export_key_file
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.exchange.sealing import KEY_BYTES


def find_key() -> bytes | None:
    """The key, if there has been an export yet.

    Raises:
        ConfigurationError: what stands there is no key.
    """
    path = export_key_file()
    try:
        text = path.read_text("ascii")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The key of exports {path} cannot be read: {error}.") from None
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(
            f"The key of exports {path} is damaged. Move it away: the next export makes another, and exports sealed "
            "before then need --trust."
        )
    return key


def make_key() -> bytes:
    """The key, made now if there is none: readable by its owner alone.

    Raises:
        ConfigurationError: it cannot be read, or not be kept.
    """
    if (key := find_key()) is not None:
        return key
    path = export_key_file()
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
            out.write(secrets.token_hex(KEY_BYTES).encode())
        try:
            os.link(unfinished, path)  # whole or not at all, and the first of several processes wins
        finally:
            unfinished.unlink(missing_ok=True)
    except FileExistsError:
        pass
    except OSError as error:
        raise ConfigurationError(f"The key of exports {path} cannot be kept: {error.strerror or error}.") from None
    key = find_key()
    assert key is not None
    return key
