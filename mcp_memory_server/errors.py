"""Every error this package raises on purpose.

    MemoryServerError                    code               retry helps?
    ├── InvalidInput (ValueError)        invalid_input      after correcting what it names
    ├── CredentialRefused (ValueError)   credential         no: keep secrets elsewhere
    ├── NotFound (LookupError)           not_found          no
    ├── Refused (PermissionError)        refused            no: policy says who may
    ├── Conflict                         conflict           after reading the current version
    ├── ConfigurationError               configuration      after correcting the setting
    ├── InvalidOption (TypeError)        invalid_option     after correcting the code that asks
    ├── EmbedderUnavailable              embedder_unavailable  later: meanwhile words alone rank
    ├── SelectorUnavailable              selector_unavailable  later: meanwhile the whole block is shown
    └── StoreError
        ├── StoreBusy                    store_busy         yes, as it stands
        ├── StoreUnavailable             store_unavailable  after the store is reachable again
        ├── StoreDamaged                 store_damaged      after `doctor`
        ├── StoreTooNew                  store_too_new      with a newer server
        ├── OptionNotHonoured            option_not_honoured  without the option, or with another provider
        └── NotSupported                 not_supported      no: this provider cannot

A message says what is wrong, which limit it broke and what to do next. It never holds the text of a
record, and at most `ECHO_LIMIT` characters of an argument, none of what looks like a credential: messages travel to
logs and to models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

ECHO_LIMIT = 80


def echo(value: object) -> str:
    """Show a caller their own value, cut to `ECHO_LIMIT` characters and free of what breaks a terminal.

    What looks like a credential is not shown: a caller may have put it into the wrong argument.
    """
    # Loaded with the first value that is shown, never with the errors.
    from .screening import find_credential  # noqa: PLC0415

    if kind := find_credential(str(value)):
        return f"(withheld: it looks like a credential, {kind.name})"
    shown = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return shown if len(shown) <= ECHO_LIMIT else shown[: ECHO_LIMIT - 1] + "…"


class MemoryServerError(Exception):
    """Root of the tree. `code` is stable across releases and safe to branch on."""

    code: ClassVar[str] = "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong argument: its name and what is wrong with it, as the rest of the sentence."""

    argument: str
    fault: str

    def __str__(self) -> str:
        return f"{self.argument} {self.fault}"


class InvalidInput(MemoryServerError, ValueError):
    """One or more arguments are wrong; every one of them is named."""

    code = "invalid_input"

    def __init__(self, *problems: Problem) -> None:
        self.problems: Sequence[Problem] = problems
        super().__init__("; ".join(str(problem) for problem in problems) + ".")

    @classmethod
    def of(cls, argument: str, fault: str) -> InvalidInput:
        return cls(Problem(argument, fault))


class CredentialRefused(MemoryServerError, ValueError):
    """An argument holds what looks like a credential. The message names its kind, and holds nothing of it."""

    code = "credential"

    def __init__(self, argument: str, kind: str) -> None:
        self.argument = argument
        self.kind = kind
        super().__init__(
            f"Nothing was stored: {argument} holds what looks like a credential ({kind}). Memories are shown to "
            "models, so keep secrets elsewhere; remember where it is kept, if that helps."
        )


class NotFound(MemoryServerError, LookupError):
    """Nothing of that name is visible to the caller: unknown, foreign and erased look the same."""

    code = "not_found"

    def __init__(self, what: str, name: str, remedy: str) -> None:
        super().__init__(f"No {what} {echo(name)} is visible to you. {remedy}")


class Refused(MemoryServerError, PermissionError):
    """Policy does not allow this to this caller. The message gives the reason and who may."""

    code = "refused"


class Conflict(MemoryServerError):
    """The record changed since the caller read it: nothing was written.

    `current_version` is 0 where there is no such record. `current_text` is for the caller who may read
    it; it is kept out of the message, because messages reach logs.
    """

    code = "conflict"

    def __init__(self, key: str, expected: int, current_version: int, current_text: str | None = None) -> None:
        self.key = key
        self.expected = expected
        self.current_version = current_version
        self.current_text = current_text
        state = f"is at version {current_version}" if current_version else "does not exist"
        super().__init__(
            f"Nothing was written: {echo(key)} {state}, not at version {expected}. "
            "Read the current fact, merge, and write again with its version."
        )


class ConfigurationError(MemoryServerError):
    """A setting cannot work. The message names the setting and what would."""

    code = "configuration"


class InvalidOption(MemoryServerError, TypeError):
    """A write option has a shape that it cannot have. Named without its value: a namespace names a tenant."""

    code = "invalid_option"

    def __init__(self, option: str, shape: str) -> None:
        self.option = option
        super().__init__(f"The write option {option} {shape}. Nothing was read or written.")


class EmbedderUnavailable(MemoryServerError):
    """The embedder could not be loaded or did not answer. Recall goes on by words alone."""

    code = "embedder_unavailable"


class SelectorUnavailable(MemoryServerError):
    """The model that picks notes did not answer with ids. Recall goes on with the whole block."""

    code = "selector_unavailable"


class StoreError(MemoryServerError):
    """The store could not do what was asked; what was acknowledged before is untouched."""

    code = "store_error"


class StoreBusy(StoreError):
    """Others hold the store, or keep it at work, for longer than may be waited. Nothing was written."""

    code = "store_busy"

    def __init__(self, waited_s: float, reason: str = "is locked by another process") -> None:
        super().__init__(f"The memory store {reason}; waited {waited_s:g} s and wrote nothing. Try again.")


class StoreUnavailable(StoreError):
    """The store cannot be opened or reached."""

    code = "store_unavailable"


class StoreDamaged(StoreError):
    """The store's files are damaged beyond what opening them repairs."""

    code = "store_damaged"


class StoreTooNew(StoreError):
    """A newer release wrote this store. It is left untouched."""

    code = "store_too_new"

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"The store has schema version {found}; this release knows versions up to {known}. "
            "Nothing was changed. Install a newer mcp-memory-server to open it."
        )


class OptionNotHonoured(StoreError):
    """A write asked for an option that the provider does not honour. Nothing was written, and no value is named."""

    code = "option_not_honoured"

    def __init__(self, provider: str, option: str, remedy: str) -> None:
        self.provider = provider
        self.option = option
        super().__init__(f"The provider {provider!r} does not honour the write option {option}. {remedy}")


class NotSupported(StoreError):
    """The provider does not declare the capability that the call needs."""

    code = "not_supported"

    def __init__(self, provider: str, capability: str, remedy: str) -> None:
        super().__init__(f"The provider {provider!r} cannot {capability}. {remedy}")
