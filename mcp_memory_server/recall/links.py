"""Notes that other notes name: `[[key]]` in a text, followed one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .headers import NoteHeader, normal_link


def resolve_links(
    headers: Iterable[NoteHeader], selected: Sequence[NoteHeader], max: int = 3
) -> tuple[NoteHeader, ...]:
    """The notes named by `[[key]]` in the selected ones, in order of mention, at most `max`.

    One hop: what the found ones name is not followed. A key means the first of `headers` that has it, since scopes go
    from narrow to wide and the narrowest answer is the one that counts; none is found that is selected already.
    """
    by_key: dict[str, NoteHeader] = {}
    for header in headers:
        by_key.setdefault(normal_link(header.key), header)
    taken = {(header.scope, header.id) for header in selected}
    found: dict[tuple[str, str], NoteHeader] = {}
    for key in (key for header in selected for key in header.links):
        target = by_key.get(key)
        if target is not None and (target.scope, target.id) not in taken and len(found) < max:
            found[target.scope, target.id] = target
    return tuple(found.values())
