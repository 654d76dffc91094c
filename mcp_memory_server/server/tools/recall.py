"""The tool `recall_digest`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

import mcp_types as types

from mcp_memory_server.derived import Derived
from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.errors import InvalidInput, Problem
from mcp_memory_server.recall import MIN_TOKENS
from mcp_memory_server.records import canonical_instant
from mcp_memory_server.server.schemas import DIGEST, STRING, arguments, array
from mcp_memory_server.service import Listed, MemoryService, Offered, Recalled
from mcp_memory_server.service.selection import DEFAULT_MAX_PICKED
from mcp_memory_server.service.wiring import MAX_MEMORIES_CEILING

from .served import ID, Call, ServedTool, text

_NOT_IN_A_DIGEST: Final = ("objective", "seen", "conversation_id")
_ONLY_IN_A_DIGEST: Final = ("as_of", "known_at", "digest_id")


def recall_tool(service: MemoryService) -> ServedTool:
    return ServedTool(_definition(service), _recall, writes=False, further_problems=_misfits)


def _definition(service: MemoryService) -> types.Tool:
    return types.Tool(
        name="recall_digest",
        title="Recall what is remembered",
        description=(
            "What is remembered about the user and their organisation, as a block of attributed facts. Call it at the "
            "start of a task and whenever the user refers to something from before. With a query it returns the facts "
            "that answer it best, pinned ones always; without one the most specific and newest. For a large memory: "
            "mode selective shows what bears on the objective; mode manifest lists notes, then call with ids."
        ),
        input_schema=arguments(
            {
                "query": {**STRING, "description": "A question or topic in plain words."},
                "max_memories": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_MEMORIES_CEILING,
                    "description": f"How many facts at most; if absent {service.limits.max_memories}, "
                    f"{DEFAULT_MAX_PICKED} picked ones.",
                },
                "max_tokens": {"type": "integer", "minimum": MIN_TOKENS, "description": "Ceiling on the text."},
                "mode": {**STRING, "enum": ["digest", "manifest", "selective"], "description": "digest if absent."},
                "objective": {**STRING, "description": "What the turn is about; for manifest and selective."},
                "ids": {**array(STRING), "description": "The notes to show, out of a manifest; [] for none."},
                "seen": {**array(STRING), "description": "All `surfaced` keys so far: not shown again."},
                "conversation_id": {**ID, "description": "In place of seen: the server keeps it by this name."},
                "as_of": {**STRING, "description": "What was true then instead of now; ISO 8601 with a zone."},
                "known_at": {**STRING, "description": "What was remembered then, whatever came after."},
                "turn_id": {**ID, "description": "Your id of this turn: asking again with it repeats the answer."},
                "digest_id": {**ID, "description": "Repeat an earlier digest as it was shown."},
            }
        ),
        output_schema=DIGEST,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _is_selective(given: Mapping[str, Any]) -> bool:
    return "ids" in given or given.get("mode", "digest") != "digest"


def _misfits(_: MemoryService, given: Mapping[str, Any]) -> list[Problem]:
    """Arguments that the mode does not take."""
    if not _is_selective(given):
        remedy = "belongs to the modes manifest and selective; give mode, or query in place of objective"
        return [Problem(name, remedy) for name in _NOT_IN_A_DIGEST if name in given]
    problems = [Problem(name, "belongs to the mode digest") for name in _ONLY_IN_A_DIGEST if name in given]
    if "ids" in given and given.get("mode", "manifest") != "manifest":
        problems.append(Problem("mode", f"is {given['mode']}, but ids are picked from a manifest; leave mode out"))
    if given.get("mode") == "selective" and "ids" not in given and not _objective(given):
        problems.append(Problem("objective", "is required in mode selective"))
    return problems


def _objective(given: Mapping[str, Any]) -> str:
    return given.get("objective", "").strip() or given.get("query", "").strip()


async def _recall(call: Call) -> types.CallToolResult:
    given = call.given
    if problems := _misfits(call.service, given):
        raise InvalidInput(*problems)
    if not _is_selective(given):
        turn = {name: value for name, value in given.items() if name != "mode"}
        offered = await call.service.offer(call.context, **turn)
        return types.CallToolResult(content=text(call.service.block(offered)), structured_content=digest_json(offered))
    recalled = await call.service.recall(
        call.context,
        objective=_objective(given),
        mode="selective" if given.get("mode") == "selective" else "manifest",
        ids=given.get("ids"),
        seen=frozenset(given.get("seen", ())),
        conversation_id=given.get("conversation_id"),
        max_memories=given.get("max_memories"),
        max_tokens=given.get("max_tokens"),
        turn_id=given.get("turn_id"),
    )
    return types.CallToolResult(content=text(recalled.text), structured_content=_recalled_json(recalled))


def _recalled_json(recalled: Recalled) -> dict[str, Any]:
    """What a selective recall came to, and the digest of what its text shows; a manifest's notes without their text."""
    shown = digest_json(recalled.offered) | {"outcome": recalled.name, "surfaced": sorted(recalled.outcome.surfaced)}
    shown["left_out"] = {"shown_before": recalled.shown_before, "further": recalled.offered.digest.omitted}
    if recalled.reason is not None:
        shown["reason"] = recalled.reason
    if recalled.kept is not None:
        shown["kept"] = recalled.kept
    if isinstance(recalled.outcome, Listed):
        shown["manifest"] = [
            {"id": name, "key": note.key, "kind": note.kind, "updated_at": canonical_instant(note.updated_at)}
            for note, name in recalled.outcome.manifest.named
        ]
    return shown


class _EntryJson(NamedTuple):
    """An entry as JSON, and which of its fields hold lists or objects: of plain values alone, or of others."""

    fields: dict[str, Any]
    shallow: tuple[str, ...]
    deep: tuple[str, ...]


def _made_entry_json(entry: DigestEntry) -> _EntryJson:
    fields = entry.model_dump(mode="json")
    nested = [name for name, value in fields.items() if _is_nested(value)]
    deep = [name for name in nested if any(map(_is_nested, _held(fields[name])))]
    return _EntryJson(fields, tuple(name for name in nested if name not in deep), tuple(deep))


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, dict))


def _held(value: Any) -> Iterable[Any]:
    return cast("dict[str, Any]", value).values() if isinstance(value, dict) else value


_kept_json: Final = Derived[DigestEntry, _EntryJson](_made_entry_json)


def _entries_json(entries: Iterable[DigestEntry]) -> list[dict[str, Any]]:
    """Entries as JSON, for whoever asks to keep: what is kept here nobody else may get hold of."""
    shown: list[dict[str, Any]] = []
    for fields, shallow, deep in _kept_json.of_each(entries):
        own = fields.copy()
        for name in shallow:
            own[name] = own[name].copy()
        for name in deep:
            own[name] = _copied(own[name])
        shown.append(own)
    return shown


def _copied(value: Any) -> Any:
    """JSON copied through and through; `copy.deepcopy` takes ten times as long."""
    match value:
        case dict():
            return {name: _copied(held) for name, held in cast("dict[str, Any]", value).items()}
        case list():
            return [_copied(held) for held in cast("list[Any]", value)]
        case _:
            return value


def digest_json(offered: Offered) -> dict[str, Any]:
    """A digest as structured content, each entry with why it is there, unless it is a replay.

    `erased` only where something was; `withheld` for administrators only. Data hold no more than the text does: a fact
    that had to be cut there is cut here, and alone.
    """
    digest = offered.digest
    entries = offered.excerpts() or _entries_json(digest.entries)
    if why := offered.why():
        for shown in entries:
            shown["why"] = why[shown["id"]]
    shown = {**digest.model_dump(mode="json", exclude={"entries"}), "entries": entries, "journaled": offered.journaled}
    if offered.withheld is not None:
        shown["withheld"] = offered.withheld
    return shown | {"erased": offered.erased} if offered.erased else shown
