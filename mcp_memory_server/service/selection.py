"""Recall for scopes too large to show whole: a manifest, the notes picked from it, or what a selector picks.

The driver is `selective.recall_selectively`; this is the use case around it: which notes there are for this request,
what the conversation was shown, the whole block where that is small or nothing could be picked, and the journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias, TypedDict

from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.errors import InvalidInput, Problem
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.providers.base import Hit, can_search
from mcp_memory_server.recall import (
    Block,
    BodyLimits,
    Degrade,
    DegradeReason,
    Manifest,
    ManifestLimits,
    NoteHeader,
    NothingNew,
    Outcome,
    SelectionRequest,
    TokenBudget,
    brief,
    encode_surfaced_key,
)
from mcp_memory_server.records import refuse_surrogates

from .candidates import Candidates, Within, all_candidates, notes_named, picked_candidates
from .listing import listed_manifest
from .offer import JournalNote, journaled, journaled_turn, replay
from .offered import Fitting, Form, Offered, block_text
from .search import SearchOptions, search
from .search_selector import SearchSelector
from .selective import SelectiveLimits, SelectiveRequest, recall_selectively
from .selector_guard import SelectorGuard
from .wiring import MAX_MEMORIES_CEILING, Wiring

DEFAULT_MAX_PICKED: Final = 5

# No model reads the manifest of the built-in selector, nor that of a caller who has picked already.
_UNREAD: Final = ManifestLimits(max_lines=100_000, max_bytes=100_000_000)

RecallMode: TypeAlias = Literal["manifest", "selective"]


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to recall for a turn of a conversation.

    Args:
        objective: what the turn is about, in plain words; the likeliest notes are listed first.
        mode: `selective` has a selector pick; `manifest` lists the notes for the caller to pick from.
        ids: what the caller picked from a manifest; in either mode they are shown.
        seen: the keys that earlier recalls of the conversation surfaced.
        conversation_id: the caller's name of the conversation, for which the server then keeps them.
        max_memories: how many notes may be picked, 5 by default; pinned ones come besides.
        max_tokens: a ceiling on the text.
        turn_id: the caller's id of this turn: asking again with it repeats the notes that it was shown.
    """

    objective: str = ""
    mode: RecallMode = "selective"
    ids: Sequence[str] | None = None
    seen: frozenset[str] = frozenset()
    conversation_id: str | None = None
    max_memories: int | None = None
    max_tokens: int | None = None
    turn_id: str | None = None


class RecallOptions(TypedDict, total=False):
    """The fields of `RecallRequest`, as keyword arguments."""

    objective: str
    mode: RecallMode
    ids: Sequence[str] | None
    seen: frozenset[str]
    conversation_id: str | None
    max_memories: int | None
    max_tokens: int | None
    turn_id: str | None


@dataclass(frozen=True, slots=True)
class Listed:
    """A manifest, for the caller to pick from by id. Nothing was surfaced."""

    text: str
    manifest: Manifest

    @property
    def surfaced(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a recall came to, and the digest of the notes that its text shows.

    `text` is there for every outcome: what to show, or that there is nothing new. `shown_before` counts the notes that
    were left out because the conversation was shown them. `kept` says whether the server has noted what this recall
    surfaced; None without a `conversation_id`.
    """

    outcome: Outcome | Listed
    offered: Offered
    text: str
    shown_before: int = 0
    kept: bool | None = None

    @property
    def name(self) -> Literal["manifest", "block", "nothing_new", "degrade"]:
        match self.outcome:
            case Listed():
                return "manifest"
            case Block():
                return "block"
            case NothingNew():
                return "nothing_new"
            case Degrade():
                return "degrade"

    @property
    def reason(self) -> DegradeReason | None:
        """Why there was no selection, where the whole block stands in its place."""
        return self.outcome.reason if isinstance(self.outcome, Degrade) else None


_NOTHING_NEW: Final = "Nothing new for this turn: what bears on it, if anything, was shown in this conversation before."
_INSTEAD: Final = "No notes could be picked: {why}. Here is the whole block instead, as far as there is room.\n"
_WHY: Final[dict[DegradeReason, str]] = {
    "no_manifest": "there was no room for a list of them",
    "selector_failed": "the selector failed",
    "selector_timed_out": "the selector did not answer in time",
    "selector_overdue": "the selector has not answered earlier questions yet",
    "selector_invented": "the ids name none of them",
}
"""Where nothing is held, that is all there is to say."""


async def recall(wiring: Wiring, context: RequestContext, request: RecallRequest) -> Recalled:
    """One turn's notes (spec section 8), journaled as its digest is.

    Where no more than `Limits.selective_over` notes apply, they are all shown at once, those that the conversation has
    not been shown yet. When nothing can be picked, the whole block is shown, and nothing counts as surfaced.

    Raises:
        InvalidInput: naming every wrong field.
        NotSupported: a `conversation_id`, with a provider that keeps no sets.
    """
    _check(request)
    now = wiring.now()
    budget = None if request.max_tokens is None else TokenBudget(request.max_tokens, wiring.estimate)
    if request.turn_id is not None and (shown := await journaled_turn(wiring, context, request.turn_id)):
        fitting = Fitting.of(wiring, request.max_tokens)
        return _repeated(wiring, fitting.replayed(await replay(wiring, context, shown)))
    within = Within(tuple(await wiring.resolver.resolve(context)), wiring.shown_now(context, now), now)
    recollection = _Recollection(wiring, context, request, within, budget)
    recalled = await recollection.recall()
    if isinstance(recalled.outcome, Listed):
        return recalled
    return await recollection.journaled(await recollection.noted(recalled))


def _check(request: RecallRequest) -> None:
    problems: list[Problem] = []
    picked = request.max_memories
    if picked is not None and not 1 <= picked <= MAX_MEMORIES_CEILING:
        problems.append(Problem("max_memories", f"is {picked}, outside 1 to {MAX_MEMORIES_CEILING}"))
    if request.mode == "selective" and request.ids is None and not request.objective.strip():
        problems.append(Problem("objective", "is required for a selection; say in plain words what the turn is about"))
    if problems:
        raise InvalidInput(*problems)
    refuse_surrogates("turn_id", request.turn_id or "")
    refuse_surrogates("conversation_id", request.conversation_id or "")


def _repeated(wiring: Wiring, offered: Offered) -> Recalled:
    """A turn that was answered before: the notes that it was shown then."""
    entries = offered.digest.entries
    text = block_text(wiring, offered)
    outcome = Block(text, _keys(entries), offered.shown_chars) if entries else NothingNew()
    return Recalled(outcome, offered, text if entries else _NOTHING_NEW)


@dataclass(frozen=True, slots=True)
class _Recollection:
    """One recall: the request, and where it looks."""

    wiring: Wiring
    context: RequestContext
    request: RecallRequest
    within: Within
    budget: TokenBudget | None

    async def recall(self) -> Recalled:
        notes, shown = await self._notes()
        unseen = [entry for entry in notes.entries if _key(entry) not in shown]
        before = len(notes.entries) - len(unseen)
        request = self.request
        if not notes.entries and request.ids is None:
            return self._whole(notes, Degrade("empty_scope"), before)
        if notes.entries and not unseen:
            return self._nothing_new(notes, before)
        if request.ids is not None:
            outcome = await self._by_ids(notes, shown, request.ids)
        elif notes.total <= min(self.wiring.limits.selective_over, request.max_memories or MAX_MEMORIES_CEILING):
            return self._everything(notes.but(unseen), before)
        elif request.mode == "manifest":
            fresh = notes.but(unseen)
            listed = listed_manifest(
                fresh.entries, fresh.total, datetime.fromisoformat(self.within.now), self._most, self.budget
            )
            if listed is None:
                return self._whole(notes, Degrade("no_manifest"), before)
            text, manifest = listed
            digest = notes.digest(0, partial=True).model_copy(
                update={"omitted": fresh.total - len(manifest.listed), "pinned_omitted": 0}
            )
            return Recalled(Listed(text, manifest), Offered(digest, journaled=False), text, before)
        else:
            outcome = await self._selected(notes, shown)
        match outcome:
            case Degrade():
                # Of those that were picked by id none may be there, and all the others are.
                everything = notes if request.ids is None else await self._all(len(shown))
                return self._whole(everything, outcome, before)
            case NothingNew():
                return self._nothing_new(notes, before)
            case Block():
                return self._shown(notes.but(unseen), outcome, before)

    @property
    def _most(self) -> int:
        return self.request.max_memories or DEFAULT_MAX_PICKED

    async def _notes(self) -> tuple[Candidates, frozenset[str]]:
        """The notes there are, and the keys of those that the conversation was shown as they are now."""
        request, wiring = self.request, self.wiring
        kept: dict[tuple[str, str], int] = {}
        if request.conversation_id is not None:
            for one in await wiring.conversations.shown(self.context.actor, request.conversation_id):
                kept[one.scope, one.id] = one.version
        if request.ids is None or any(id.strip().startswith("~") for id in request.ids):
            notes = await self._all(len(request.seen) + len(kept))
        else:
            notes = await picked_candidates(wiring, self.within, request.ids)
        # One that was corrected since is new.
        same = (entry for entry in notes.entries if kept.get((entry.scope, entry.id)) == entry.version)
        return notes, request.seen | _keys(tuple(same))

    async def _all(self, shown: int) -> Candidates:
        return await all_candidates(self.wiring, self.within, self.request.objective.strip(), shown)

    async def _by_ids(self, notes: Candidates, shown: frozenset[str], ids: Sequence[str]) -> Outcome:
        if not ids and not notes.entries:  # to pick nothing is an answer, and nothing is pinned
            return NothingNew() if notes.total else Degrade("empty_scope")
        named = notes_named(notes.entries, ids)
        if ids and not named:
            return Degrade("selector_invented")
        picked = _Picked(tuple(note for note in named if encode_surfaced_key(note.scope, note.id) not in shown))
        return await self._driven(notes, shown, SelectorGuard(picked, trusted=True), _UNREAD)

    async def _selected(self, notes: Candidates, shown: frozenset[str]) -> Outcome:
        guard = self.wiring.selector
        if guard is not None:
            return await self._driven(notes, shown, guard, ManifestLimits())
        if not can_search(self.wiring.provider):
            return Degrade("selector_failed")

        async def find(objective: str, depth: int) -> Sequence[Hit]:
            return await search(self.wiring, self.context, SearchOptions(query=objective, top_k=depth))

        guard = SelectorGuard(SearchSelector(find), trusted=True)
        return await self._driven(notes, shown, guard, _UNREAD)

    async def _driven(
        self, notes: Candidates, shown: frozenset[str], guard: SelectorGuard, manifest: ManifestLimits
    ) -> Outcome:
        longest = self.wiring.limits.max_fact_chars
        body = BodyLimits(
            max_bytes=max(BodyLimits().max_bytes, 1_024 * self._most),
            max_note_chars=max(longest, BodyLimits().max_note_chars),
            index=None,
            budget=self.budget,
        )
        limits = SelectiveLimits(max_selected=self._most, repeat_caveat=False, manifest=manifest, body=body)
        now = datetime.fromisoformat(self.within.now)
        objective = self.request.objective.strip()
        return await recall_selectively(SelectiveRequest(objective, notes.entries, now, shown, limits=limits), guard)

    # --- answers ------------------------------------------------------------------------------------------

    def _shown(self, fresh: Candidates, block: Block, before: int) -> Recalled:
        entries = tuple(entry for entry in fresh.entries if _key(entry) in block.surfaced)
        digest = fresh.but(entries).digest(len(entries), partial=True)
        digest = digest.model_copy(update={"omitted": fresh.total - len(entries)})
        offered = Offered(digest, journaled=False, text=block.text, shown_chars=block.shown_chars)
        return Recalled(block, offered, block.text, before)

    def _everything(self, fresh: Candidates, before: int) -> Recalled:
        """All that the conversation has not been shown, as an ordinary block."""
        fitting = Fitting.of(self.wiring, self.request.max_tokens)
        offered = Offered(fresh.digest(fresh.total, partial=before > 0), journaled=False)
        offered = fitting.fitted(offered, lambda most: fresh.digest(most, partial=before > 0))
        text = block_text(self.wiring, offered)
        return Recalled(Block(text, _keys(offered.digest.entries), offered.shown_chars), offered, text, before)

    def _nothing_new(self, notes: Candidates, before: int) -> Recalled:
        digest = notes.digest(0, partial=True)
        digest = digest.model_copy(update={"omitted": notes.total - before, "pinned_omitted": 0})
        return Recalled(NothingNew(), Offered(digest, journaled=False), _NOTHING_NEW, before)

    def _whole(self, notes: Candidates, degrade: Degrade, before: int) -> Recalled:
        """The whole block, as far as there is room, whatever was shown before."""
        said = _INSTEAD.format(why=_WHY[degrade.reason]) if degrade.reason in _WHY else ""

        def told(offered: Offered) -> str:
            return said + block_text(self.wiring, replace(offered, text=None))

        fitting = Fitting.of(self.wiring, self.request.max_tokens, Form(told, lambda digest: said + brief(digest)))
        most = self.request.max_memories or MAX_MEMORIES_CEILING
        offered = fitting.fitted(Offered(notes.digest(most), journaled=False), notes.digest)
        text = offered.text if offered.text is not None else told(offered)
        return Recalled(degrade, offered, text, before)

    # --- what stays of a recall ---------------------------------------------------------------------------

    async def noted(self, recalled: Recalled) -> Recalled:
        """With what was surfaced in the conversation's set, if the caller named one."""
        conversation = self.request.conversation_id
        if conversation is None:
            return recalled
        surfaced = recalled.outcome.surfaced
        shown = [entry for entry in recalled.offered.digest.entries if _key(entry) in surfaced]
        kept = await self.wiring.conversations.add(self.context.actor, conversation, shown, self.within.now)
        return replace(recalled, kept=kept)

    async def journaled(self, recalled: Recalled) -> Recalled:
        digest = recalled.offered.digest.model_copy(update={"digest_id": self.wiring.new_id()})
        note = JournalNote(self.within.now, self.request.turn_id, self.request.objective.strip() or None)
        fitting = Fitting.of(self.wiring, self.request.max_tokens)
        given = replace(recalled.offered, digest=digest)
        offered = await journaled(self.wiring, self.context, given, note, fitting)
        if offered.digest.digest_id != digest.digest_id:  # another process answered the same turn meanwhile
            return _repeated(self.wiring, offered)
        return replace(recalled, offered=offered)


@dataclass(frozen=True, slots=True)
class _Picked:
    """The caller as the selector: these notes it is."""

    notes: tuple[NoteHeader, ...]

    async def select(self, request: SelectionRequest) -> Sequence[str]:
        names = {(note.scope, note.id): name for note, name in request.manifest.named}
        return [names[note.scope, note.id] for note in self.notes if (note.scope, note.id) in names]


def _key(entry: DigestEntry) -> str:
    return encode_surfaced_key(entry.scope, entry.id)


def _keys(entries: Sequence[DigestEntry]) -> frozenset[str]:
    return frozenset(map(_key, entries))
