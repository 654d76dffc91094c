"""What is asked for, in the one shape it may have, and whether a provider honours it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, get_args

from mcp_memory_server.errors import InvalidOption, OptionNotHonoured
from mcp_memory_server.providers.base import MemoryProvider, WriteOption
from mcp_memory_server.records import Extraction

from .namespaces import Space

_REMEDY: Final = (
    "Nothing was written: leave the option unset, or use a provider that declares it in `honours`. "
    "One to which a namespace is bound takes no other."
)


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a write asks for; None, and an empty namespace, ask for nothing.

    Args:
        extraction: `skip` keeps the record and derives nothing from it; `allow` says that deriving is welcome.
        namespace_scope: names and texts that together name one tenant's namespace, such as `{"tenant": "acme"}`.
            What is written is held in it, and found in it alone.

    Raises:
        InvalidOption: a wrong shape; a `TypeError` that names the option and not its value.
    """

    extraction: Extraction | None = None
    namespace_scope: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.extraction is not None and self.extraction not in get_args(Extraction):
            raise InvalidOption(WriteOption.EXTRACTION, "is neither 'allow' nor 'skip'; leave it unset to ask nothing")
        if self.namespace_scope is not None:
            checked = checked_namespace(self.namespace_scope)
            object.__setattr__(self, "namespace_scope", MappingProxyType(checked))

    @property
    def asked(self) -> frozenset[WriteOption]:
        """The options that this asks for."""
        given = {WriteOption.EXTRACTION: self.extraction, WriteOption.NAMESPACE_SCOPE: self.namespace_scope}
        return frozenset(option for option, value in given.items() if value)


NOTHING_ASKED: Final = WriteOptions()


def checked_namespace(value: Any) -> dict[str, str]:
    """A copy of a namespace, which whoever gave it can no longer change.

    Raises:
        InvalidOption: it is not a mapping of texts to texts, none of them blank.
    """
    if not isinstance(value, Mapping):
        raise InvalidOption(WriteOption.NAMESPACE_SCOPE, "is not a mapping of names to texts")
    pairs: dict[Any, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType]
    if not all(_is_name(part) for pair in pairs.items() for part in pair):
        # A blank would put everybody whose tenant is not known into one namespace.
        raise InvalidOption(WriteOption.NAMESPACE_SCOPE, "holds a name or text that is no text, or blank")
    return pairs


def namespace_token(namespace: Mapping[str, str]) -> str:
    """What stands before the scopes of a namespace in the store, for an operator who exports or erases it.

    Raises:
        InvalidOption: a wrong shape, or empty.
    """
    if not (checked := checked_namespace(namespace)):
        raise InvalidOption(WriteOption.NAMESPACE_SCOPE, "is empty, so that it names no namespace")
    return Space.of(checked).prefix


def _is_name(part: object) -> bool:
    if not isinstance(part, str) or not part.strip():
        return False
    try:
        part.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def assert_provider_honours(provider: MemoryProvider, *options: WriteOption | str) -> None:
    """Refuse, at start-up, what could never work: `assert_provider_honours(provider, "extraction")`.

    Raises:
        OptionNotHonoured: the provider does not declare one of the options.
        InvalidOption: there is no option of such a name.
    """
    known = {option.value: option for option in WriteOption}
    for name in options:
        if name not in known:
            raise InvalidOption(ascii(name)[:80], f"does not exist; there are {', '.join(known)}")
    declared = provider.capabilities
    for option in sorted({known[name] for name in options} - declared.honours):
        raise OptionNotHonoured(declared.provider, option, _REMEDY)
