"""Long-term memory for MCP clients: attributed, inspectable, correctable, forgettable.

The names below are the library's stable surface. They are resolved at first use, so that importing the package
costs nothing: a prompt hook that only renders a block loads neither the MCP SDK nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .block import render_block
    from .digest import DigestEntry, MemoryDigest, Override, resolve_digest
    from .identity import Actor, DefaultScopeResolver, RequestContext, ScopeResolver
    from .policy import Verdict, forget_verdict, write_verdict
    from .providers import open_provider
    from .providers.options import WriteOptions, assert_provider_honours, bind_write_options
    from .records import MemoryOrigin, MemoryRecord
    from .server import build_server
    from .service import MemoryService

__all__ = [
    "Actor",
    "DefaultScopeResolver",
    "DigestEntry",
    "MemoryDigest",
    "MemoryOrigin",
    "MemoryRecord",
    "MemoryService",
    "Override",
    "RequestContext",
    "ScopeResolver",
    "Verdict",
    "WriteOptions",
    "assert_provider_honours",
    "bind_write_options",
    "build_server",
    "forget_verdict",
    "open_provider",
    "render_block",
    "resolve_digest",
    "write_verdict",
]

_HOMES: Final = {
    "Actor": "identity",
    "DefaultScopeResolver": "identity",
    "DigestEntry": "digest",
    "MemoryDigest": "digest",
    "MemoryOrigin": "records",
    "MemoryRecord": "records",
    "MemoryService": "service",
    "Override": "digest",
    "RequestContext": "identity",
    "ScopeResolver": "identity",
    "Verdict": "policy",
    "WriteOptions": "providers.options",
    "assert_provider_honours": "providers.options",
    "bind_write_options": "providers.options",
    "build_server": "server",
    "forget_verdict": "policy",
    "open_provider": "providers",
    "render_block": "block",
    "resolve_digest": "digest",
    "write_verdict": "policy",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # a tenth of what rendering a block costs

        return version("mcp-memory-server")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
