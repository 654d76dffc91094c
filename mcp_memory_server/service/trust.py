"""How far a write is trusted: what it is screened for, and whether it is a fact at once or waits for review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from mcp_memory_server.errors import CredentialRefused
from mcp_memory_server.kinds import words_of
from mcp_memory_server.kinds.triples import TRIPLE
from mcp_memory_server.policy import Claim, derivation_verdict, standing
from mcp_memory_server.providers.base import SET_ASIDE_TOO, Filter, ListRequest, WriteRequest
from mcp_memory_server.records import MemoryRecord, Provenance, Sensitivity, active_lane, lane_of

from .wiring import Wiring

Raw = Mapping[str, str | Sequence[str] | None]
"""Arguments by name as they came, before anything is normalised away."""

_NAMED: Final = (("key", "fact"), ("label", "value"), ("label", "line"), ("label", "new"))
"""A name and what is said under it: of a memory, and of an edit of a working block."""


def refuse_credentials(given: Raw) -> None:
    """Refuse arguments that hold what looks like a credential, before anything else looks at them.

    Under the key of a password a word is one that would be none in a sentence.

    Args:
        given: the arguments that hold words of the caller's, as they came.

    Raises:
        CredentialRefused: naming the argument and the kind of credential, and nothing of the text.
    """
    # Loaded with the first write, never with the server.
    from mcp_memory_server.screening import find_credential  # noqa: PLC0415

    rows = ((names[-1], said) for names, said in _in_a_row(given, ": "))
    for argument, value in (*given.items(), *rows):
        for text in _texts(value):
            if kind := find_credential(text):
                raise CredentialRefused(argument, kind.name)


async def judged(
    wiring: Wiring, scopes: Sequence[str], draft: WriteRequest, provenance: Provenance, raw: Raw
) -> WriteRequest:
    """The draft with the standing that it has (`policy.standing`).

    Args:
        wiring: the store.
        scopes: where the writer sees records; one that it was derived from and that is elsewhere counts as missing.
        draft: what is to be written, normalised. `origin.author` says whose word it is.
        provenance: how it came about.
        raw: the arguments as they came: what normalising removes is part of what is looked for.

    Raises:
        Refused: nothing may be derived from one of its sources.
    """
    sources = await _sources(wiring, scopes, draft.derived_from)
    derivation_verdict(source for source in sources if source is not None).require()
    claim = Claim(
        author=draft.origin.author,
        provenance=provenance,
        suspicion=suspicion_of(raw) if draft.origin.author == "agent" else None,
        sources=sources,
        sensitivity=await _sensitivity_without(wiring, draft) if sources else draft.sensitivity,
    )
    verdict = standing(claim, wiring.quarantine)
    return replace(
        draft,
        provenance=provenance,
        status=verdict.status,
        held_because=verdict.held_because,
        sensitivity=verdict.sensitivity,
    )


async def _sensitivity_without(wiring: Wiring, draft: WriteRequest) -> Sensitivity:
    """What the fact would have if it were derived from nothing: what is asked, else what the replaced one has."""
    if draft.sensitivity is not None:
        return draft.sensitivity
    request = ListRequest((draft.scope,), keys=(draft.key,), filter=Filter(include_archived=True))
    held = {lane_of(record): record for record in (await wiring.provider.list(request)).records}
    current = held.get(active_lane(draft.kind, draft.origin.thread_id))
    return "internal" if current is None else current.sensitivity


def suspicion_of(raw: Raw) -> str | None:
    """Why the arguments read like an instruction to the model, for the person who reviews; None when they do not.

    Each by itself, and in a row those that models are shown in a row.
    """
    from mcp_memory_server.screening import read_instruction  # noqa: PLC0415  # likewise

    rows = ((" and ".join(names), said) for names, said in _in_a_row(raw, " "))
    for argument, value in (*raw.items(), *rows):
        for text in _texts(value):
            if found := read_instruction(text):
                return f"{found.reason} ({argument})"
    return None


def _in_a_row(raw: Raw, after_name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is shown on one line, with the names of its arguments: it may say together what no part of it says.

    Args:
        raw: the arguments by name.
        after_name: what stands between a name and what is said under it.
    """
    for names, between in (*((pair, after_name) for pair in _NAMED), (TRIPLE, " ")):
        said = [text for name in names for text in _texts(raw.get(name))]
        if len(said) > 1:
            yield names, between.join(said)


def suspicion_of_record(record: MemoryRecord) -> str | None:
    """The same for a record that is held, with the reason that somebody gave for proposing it."""
    return suspicion_of({**said_in(record), "reason": record.held_because})


def said_in(record: MemoryRecord) -> Raw:
    """Every word of a record that somebody chose, by name: its parts, and where it claims to come from.

    A file may say anything in any of these.
    """
    origin = record.origin
    return {
        "key": record.key,
        "fact": record.text,
        "tags": record.tags,
        **words_of(record),
        "thread_id": origin.thread_id,
        "run_id": origin.run_id,
        "archived_because": record.archived_because,
        "derived_from": record.derived_from,
    }


async def _sources(wiring: Wiring, scopes: Sequence[str], ids: Sequence[str]) -> list[MemoryRecord | None]:
    if not ids:
        return []
    request = ListRequest(tuple(scopes), ids=tuple(ids), filter=SET_ASIDE_TOO)
    held = {record.id: record for record in (await wiring.provider.list(request)).records if record.scope in scopes}
    return [held.get(record_id) for record_id in ids]


def _texts(value: str | Sequence[str] | None) -> Sequence[str]:
    return [value] if isinstance(value, str) else value or ()
