"""Files that settings name, for what is better kept out of variables and command lines."""

from __future__ import annotations

from pathlib import Path

from .errors import ConfigurationError, echo


def file_of(setting: str, origin: str, path: str) -> str:
    """How a message names the file that a setting names."""
    return f"The file of the setting {setting} ({origin}), {echo(path)},"


def content_of(setting: str, origin: str, path: str) -> str:
    """The text of the file that a setting names.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        return Path(path).expanduser().read_text("utf-8")
    except (OSError, ValueError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is no file of text"
        raise ConfigurationError(f"{file_of(setting, origin, path)} cannot be read: {reason}.") from None
