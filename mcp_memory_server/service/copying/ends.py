"""The two ends of a copy: what they must be able to do, and whether one is a copy of the other already."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeGuard

from mcp_memory_server.errors import NotSupported, Refused
from mcp_memory_server.providers.base import (
    BrowsingProvider,
    CarryingProvider,
    CarryRequest,
    JournalingProvider,
    MemoryProvider,
    RestoringProvider,
    can_browse,
    can_carry,
    can_journal,
    can_restore,
)
from mcp_memory_server.service.wiring import utc_now

_FOREIGN: Final = (
    "The target holds records already, and it is no copy of this source. Nothing was copied. Name an empty store, or "
    "give --merge to add to what it holds: that keeps every record of its own."
)


class Target(BrowsingProvider, RestoringProvider, Protocol):
    """What a copy is written to."""


class _Carries(CarryingProvider, JournalingProvider, Protocol):
    """What has an identity: the secret that its journal is keyed with."""


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """Copy all of `source` into `target`.

    Args:
        source, target: two open stores, which are not one.
        by: who has it done, for audit lines.
        merge: add to a target with records of its own, which stay.
        now: tells the time.
    """

    source: MemoryProvider
    target: MemoryProvider
    by: str
    merge: bool = False
    now: Callable[[], str] = utc_now


@dataclass(frozen=True, slots=True)
class Ends:
    """Two stores that were found fit. `fresh`: the target held nothing, and no trace of anything."""

    source: BrowsingProvider
    target: Target
    fresh: bool

    @property
    def carriers(self) -> tuple[CarryingProvider, CarryingProvider] | None:
        """The ends as holders of what stands beside the records; None where one of them cannot tell or take it."""
        source, target = self.source, self.target
        return (source, target) if can_carry(source) and can_carry(target) else None


async def checked_ends(request: CopyRequest) -> Ends:
    """The ends, found fit; from then on an empty target is known as a copy of this source.

    Raises:
        NotSupported: the source cannot be read as a whole, or the target cannot take records in.
        Refused: the target holds records that are not the source's, and they are not to be merged.
    """
    source, target = _readable(request.source), _writable(request.target)
    empty = not await target.scopes()
    known = _identified(request.source), _identified(request.target)
    if known[0] is None or known[1] is None:
        if not (empty or request.merge):
            raise Refused(_FOREIGN)
        return Ends(source, target, empty)
    secret = await known[0].journal_secret()
    if empty:
        await known[1].adopt_secret(secret)
    elif not (request.merge or hmac.compare_digest(secret, await known[1].journal_secret())):
        raise Refused(_FOREIGN)
    traces = (await known[1].carried(CarryRequest("audit", 1))).rows
    return Ends(source, target, empty and not traces)


def _readable(source: MemoryProvider) -> BrowsingProvider:
    if not can_browse(source):
        raise NotSupported(source.capabilities.provider, "be read as a whole", "Copy from a store that can.")
    return source


def _writable(target: MemoryProvider) -> Target:
    if not _is_target(target):
        raise NotSupported(target.capabilities.provider, "take records in as they are", "Copy to a store that can.")
    return target


def _is_target(provider: MemoryProvider) -> TypeGuard[Target]:
    return can_browse(provider) and can_restore(provider)


def _identified(provider: MemoryProvider) -> _Carries | None:
    return provider if _has_identity(provider) else None


def _has_identity(provider: MemoryProvider) -> TypeGuard[_Carries]:
    return can_carry(provider) and can_journal(provider)
