"""Working blocks: named slots that several clients edit at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory_server.errors import Conflict, InvalidInput, NotFound, Refused, echo
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.kinds import Form
from mcp_memory_server.kinds.working import Edit, edited, words_of, working_text
from mcp_memory_server.providers.base import Filter, ListRequest
from mcp_memory_server.records import MemoryRecord, WorkingBlock, normal_key
from mcp_memory_server.service.remember import Remembered, RememberRequest
from mcp_memory_server.service.trust import refuse_credentials, suspicion_of
from mcp_memory_server.service.wiring import Wiring

from .recording import ASSISTANT, PERSON, Writer, persistently, record, revise, writing


@dataclass(frozen=True, slots=True)
class Blocks:
    wiring: Wiring

    async def edit(
        self,
        context: RequestContext,
        label: str,
        edit: Edit,
        if_version: int | None = None,
        writer: Writer = ASSISTANT,
    ) -> Remembered:
        """Change the block of that label, or begin it; the narrowest of one's own that there is.

        Without `if_version` the edit is made to the block as it is by then: of many clients that append at once none
        loses a line. With it, only over that version; 0 only where there is no block yet.

        Raises:
            InvalidInput: what the edit says cannot be, with the limit that it breaks; nothing is cut.
            CredentialRefused: it would hold one.
            Refused: an assistant would change a block that is read-only or kept from it.
            NotFound: there is no block to replace something in.
            Conflict: the block is at another version, or others changed it all the time.
            NotSupported: the provider is read-only.
        """
        writing(self.wiring)
        refuse_credentials({"label": label, **words_of(edit)})
        key = normal_key(label, "label")

        async def attempt() -> Remembered:
            current = await self._current(context, key, writer)
            version = current.version if current else 0
            if if_version is not None and if_version != version:
                raise Conflict(key, if_version, version, current.text if current else None)
            edition = _edition(key, current, edit, writer)
            return await record(self.wiring, context, edition, _at(current, writer))

        return await (attempt() if if_version is not None else persistently(self.wiring, attempt))

    async def lock(
        self, context: RequestContext, label: str, *, read_only: bool, writer: Writer = PERSON
    ) -> MemoryRecord:
        """Make the block one that only a person changes, or release it; what it says stays whose it was.

        Raises:
            Refused: an assistant asks, or the block stands at a scope that the writer may not write at.
            NotFound: there is no such block.
            InvalidInput, Conflict, NotSupported
        """
        key = normal_key(label, "label")
        _check_person(key, True, writer)
        current = await self._current(context, key, writer)
        if current is None:
            raise NotFound("working block", key, "See `mcp-memory-server blocks`.")

        def change(found: MemoryRecord) -> MemoryRecord:
            locked = found.working and found.working.model_copy(update={"read_only": read_only})
            return found.model_copy(update={"working": locked})

        return await revise(self.wiring, context, current.id, change, writer)

    async def all(self, context: RequestContext) -> Sequence[MemoryRecord]:
        """The blocks that are shown to the caller every turn, in the order of the digest."""
        return await self._listed(context, tuple(await self.wiring.resolver.resolve(context)), None)

    async def find(self, context: RequestContext, label: str) -> MemoryRecord:
        """The narrowest block of that label.

        Raises:
            NotFound: none is shown to the caller.
        """
        scopes = tuple(await self.wiring.resolver.resolve(context))
        found = await self._listed(context, scopes, label)
        if not found:
            raise NotFound("working block", label, "Read memory://block to see those that there are.")
        return found[0]

    async def _listed(self, context: RequestContext, scopes: tuple[str, ...], key: str | None) -> list[MemoryRecord]:
        seen = replace(self.wiring.shown_now(context), kinds=("working",))
        request = ListRequest(scopes, keys=None if key is None else (key,), filter=seen)
        listing = await self.wiring.provider.list(request)
        return [found for found in listing.records if found.scope in scopes and found.working is not None]

    async def _current(self, context: RequestContext, key: str, writer: Writer) -> MemoryRecord | None:
        """The block that is to be changed.

        Raises:
            InvalidInput: the label is the key of something else.
            Refused: the session may not see the block.
        """
        places = writer.places(context)
        request = ListRequest(places, keys=(key,), filter=Filter(include_archived=True))
        listing = await self.wiring.provider.list(request)
        found = [one for one in listing.records if one.scope in places and one.kind != "session"]
        blocks = [one for one in found if one.working is not None]
        if not blocks and found:
            raise InvalidInput.of("label", f"is the key of a {found[0].kind} memory; use another label")
        current = min(blocks, key=lambda block: places.index(block.scope), default=None)
        if current is not None and current.sensitivity not in self.wiring.shown_now(context).ceiling:
            raise Refused(f"The block {echo(key)} is more sensitive than this session may see. Use another label.")
        return current


def _check_person(key: str, needed: bool, writer: Writer) -> None:
    if needed and writer.author != "human":
        raise Refused(f"The block {echo(key)} is read-only: only a person changes it, with `mcp-memory-server blocks`.")


def _edition(key: str, current: MemoryRecord | None, edit: Edit, writer: Writer) -> RememberRequest:
    """The write that makes the edit, over the version that it was made from."""
    before = current.working if current else None
    _check_person(key, before is not None and before.read_only, writer)
    after = edited(before, edit)
    if after is None:
        raise NotFound("working block", key, "Begin it by setting its value or appending a line.")
    return RememberRequest(
        key,
        working_text(after),
        tags=current.tags if current else (),
        if_version=current.version if current else 0,
        form=Form("working", working=after, raw=_screened(before, after, edit)),
    )


def _screened(before: WorkingBlock | None, after: WorkingBlock, edit: Edit) -> dict[str, Sequence[str]]:
    """What is looked at: what the edit adds, and the whole of it, since an instruction may come piece by piece.

    Where the block reads like an instruction already, because a person had it say so, the addition alone counts.
    """
    said: dict[str, Sequence[str]] = dict(words_of(edit))
    if before is None or suspicion_of({"value": before.value}) is None:
        said["value"] = (after.value, working_text(after))
    return said


def _at(current: MemoryRecord | None, writer: Writer) -> Writer:
    """The same writer, at the scope where the block is."""
    return writer if current is None else replace(writer, scope=current.scope)
