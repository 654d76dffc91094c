"""Looks at a text before it becomes a memory: does it read like an instruction, does it hold a credential?

Pure functions from a string to a value. What they need is loaded at the first text, never with the server: a language
is a table of words, and patterns take their time to compile. `docs/screening.md` says what is held, what is refused
and what is missed.
"""

from __future__ import annotations

from .findings import REASONS, CredentialKind, Reason, Suspicion

__all__ = ["REASONS", "CredentialKind", "Reason", "Suspicion", "find_credential", "read_instruction"]


def read_instruction(text: str) -> Suspicion | None:
    """Why the text should wait for a person's review, or None for an ordinary memory. Takes any string.

    It is for the text as it came: what writing a note removes is part of what is looked for.
    """
    from .instructions import read_instruction as read  # noqa: PLC0415  # the tables of words

    return read(text)


def find_credential(text: str) -> CredentialKind | None:
    """The kind of the first credential that the text holds, or None. Takes any string; the value is never returned."""
    from .credentials import find_credential as find  # noqa: PLC0415  # the library, and patterns

    return find(text)
