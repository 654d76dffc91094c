"""Which version of a record answers a question about time, and whether a filter lets it through.

Two clocks (spec section 9.3): valid time, when a fact is true in the world, and recorded time, when we came to
believe it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from mcp_memory_server.records import MemoryRecord, Status

from .base import Filter
from .versions import closed_history

_ALWAYS: Final = ""
_NEVER: Final = "~"
"""Before and after every instant, in the order of strings."""


def begins(version: MemoryRecord) -> str | None:
    """When it says that it begins to be true; an episode not before it started."""
    started = None if version.episode is None else version.episode.started_at
    return max(filter(None, (version.valid_from, started)), default=None)


def holds_at(version: MemoryRecord, at: str) -> bool:
    """Whether it is true at that instant, as far as it says when it is."""
    return (begins(version) or _ALWAYS) <= at < (version.valid_to or _NEVER)


def version_at(
    versions: Sequence[MemoryRecord], as_of: str | None = None, known_at: str | None = None
) -> MemoryRecord | None:
    """The version of one record that was true at `as_of`, by what was known at `known_at`.

    Known are the versions written by then, and the last of those is not replaced yet. A version holds from its
    beginning until it ends or is replaced, whichever is earlier. It begins when it says so, else when it replaced
    another one or took another record's place, else it has always held. Of several that hold the newest stands: one
    that begins in the past wins from then on.

    Args:
        versions: as they were when current, oldest first.
        as_of: by default the moment of `known_at`; one of the two must be given.
    """
    moment = as_of or known_at
    assert moment is not None
    known = [version for version in versions if known_at is None or version.updated_at <= known_at]
    replaced_at = _NEVER
    for place in reversed(range(len(known))):
        version = known[place]
        replaces = place > 0 or version.supersedes is not None
        begun = begins(version) or (version.updated_at if replaces else _ALWAYS)
        if begun <= moment < min(version.valid_to or _NEVER, replaced_at):
            return version
        replaced_at = version.updated_at
    return None


def answers(versions: Sequence[MemoryRecord], asked: Filter, statuses: Collection[Status]) -> tuple[MemoryRecord, ...]:
    """The versions of one record that a list or a search is about: at most one, unless superseded ones are wanted.

    Args:
        versions: as they were when current, oldest first, at least one.
        asked: see `Filter`.
        statuses: which count besides those that the filter includes.
    """
    current = versions[-1]
    if not (_has_status(current, asked, statuses) and current.sensitivity in asked.ceiling):
        return ()
    if not asked.is_historic:
        found: Sequence[MemoryRecord] = versions[-1:]
        if asked.at is not None and not holds_at(current, asked.at):
            return ()
    elif asked.as_of is None and asked.include_superseded:
        known = [version for version in versions if asked.known_at is None or version.updated_at <= asked.known_at]
        found = closed_history(known)
    else:
        version = version_at(versions, asked.as_of, asked.known_at)
        found = () if version is None else (version,)
    return tuple(version for version in found if _has_status(version, asked, statuses) and admits(asked, version))


def _is_archived(version: MemoryRecord, asked: Filter) -> bool:
    """Whether it is set aside at the moment that is asked about: what was there then, was shown then."""
    moment = asked.as_of or asked.known_at
    return version.archived_at is not None and (moment is None or version.archived_at <= moment)


def _has_status(version: MemoryRecord, asked: Filter, statuses: Collection[Status]) -> bool:
    return version.status in statuses or (asked.include_quarantined and version.status == "quarantined")


def admits(asked: Filter, version: MemoryRecord) -> bool:
    """Whether a version is one that the filter asks for, whatever its time and status."""
    return (
        (asked.include_archived or not _is_archived(version, asked))
        and not (asked.own_thread and version.kind == "session" and version.origin.thread_id != asked.thread_id)
        and version.sensitivity in asked.sensitivities
        and (not asked.kinds or version.kind in asked.kinds)
        and (not asked.owners or (version.owner or "user") in asked.owners)
        and (not asked.tags or set(asked.tags) <= set(version.tags))
        and (asked.since is None or version.updated_at >= asked.since)
        and (asked.until is None or version.updated_at < asked.until)
    )
