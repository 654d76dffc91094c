"""One store into another, as a whole and while the source is written.

Nothing is kept beside the stores: a copy that was stopped begins again with comparing, and takes what is missing. The
audit lines of the source tell what was erased there, so that a record which an earlier run brought goes at the target
too; what the target holds of its own is never touched. An empty target takes the source's secret first, by which the
next run knows its own copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcp_memory_server.providers.base import PARTS, has_history, is_maintained, reports_changes

from .beside import carry_part
from .ends import CopyRequest, checked_ends
from .moving import Mover
from .outcome import Beside, Copied, Difference, Gauge, Progress

__all__ = ["Beside", "Copied", "CopyRequest", "Difference", "Progress", "copy_store"]

_SCOPES_AT_ONCE = 1_000


async def copy_store(request: CopyRequest, report: Callable[[Progress], None] = lambda _: None) -> Copied:
    """Copy the source into the target, verify it, and say what it came to.

    Args:
        request: what to copy.
        report: is told how far it has come.

    Raises:
        NotSupported, Refused: nothing was copied.
        StoreError: an end failed; what was copied is kept, and the next run goes on there.
    """
    mover = Mover(request, await checked_ends(request))
    ends = mover.ends
    await mover.begin_following()
    scopes = await mover.scopes()
    total = await _count(mover, scopes)
    await mover.copy(scopes, Gauge("copying", total, report))
    await mover.follow()  # a gap is of no matter: everything is compared next
    ledger = await mover.verify(await mover.scopes(), Gauge("verifying", total, report))
    written, missed = await mover.follow()
    beside: list[Beside] = []
    if ends.carriers is not None:
        for number, part in enumerate(PARTS):
            report(Progress("carrying", number, len(PARTS)))
            beside.append(await carry_part(*ends.carriers, part))
        report(Progress("carrying", len(PARTS), len(PARTS)))
    followed, missed_last = await mover.follow()
    await _note_maintenance(mover)
    return Copied(
        scopes=ledger.scopes,
        records=ledger.records,
        versions=ledger.versions,
        source_digest=ledger.digests[0],
        target_digest=ledger.digests[1],
        restored=mover.restored,
        forgotten=mover.forgotten,
        pending=mover.pending,
        differing=ledger.differing,
        differences=ledger.differences,
        newer=ledger.left.newer,
        beaten=ledger.left.beaten,
        erased=ledger.left.erased,
        own=ledger.left.own,
        beside=beside,
        carries=ends.carriers is not None,
        with_history=has_history(ends.source) and has_history(ends.target),
        follows=reports_changes(ends.source),
        written=written + followed + (missed or missed_last),
    )


async def _count(mover: Mover, scopes: Sequence[str]) -> int:
    """How many records the source holds."""
    parts = (scopes[start : start + _SCOPES_AT_ONCE] for start in range(0, len(scopes), _SCOPES_AT_ONCE))
    return sum([(await mover.ends.source.stats(part)).records for part in parts])


async def _note_maintenance(mover: Mover) -> None:
    source, target = mover.ends.source, mover.ends.target
    last = (await source.stats(())).last_maintenance
    if last is not None and is_maintained(target):
        await target.record_maintenance(last)
