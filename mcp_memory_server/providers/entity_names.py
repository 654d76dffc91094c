"""Which names mean the same entity, and what a ledger of merges comes to: the same for every provider."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.records import MemoryRecord

from .base import Entity, Merge, MergeRequest

_SPACES: Final = re.compile(r"\s+")
# Folding can make a sequence that folds further; no character known needs more than two rounds.
_ROUNDS: Final = 4

Role = Literal["subject", "object"]


def fold_name(name: str) -> str:
    """A name without its case, compatibility form and spacing: equal for names that mean the same entity."""
    for _ in range(_ROUNDS):
        folded = _SPACES.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()
        if folded == name:
            break
        name = folded
    return name


class Mention(NamedTuple):
    """A version of a record names an entity."""

    role: Role
    spelling: str


def mentions_of(version: MemoryRecord) -> tuple[Mention, ...]:
    """The entities that a version brings; none when it is not active, or nothing may be derived from it."""
    if version.status != "active" or version.extraction == "skip":
        return ()
    named = (Mention("subject", version.subject or ""), Mention("object", version.object or ""))
    return tuple(mention for mention in named if fold_name(mention.spelling))


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity as a store holds it: its folded name, and how often its versions spell it how."""

    id: str
    scope: str
    folded: str
    spellings: Counter[str] = field(default_factory=Counter[str])


def roots_of(merges: Iterable[Merge], alive: Iterable[str]) -> Mapping[str, str]:
    """The root of every entity that a merge in force is about, roots included; only living ones are roots.

    Args:
        merges: the lines of one scope's ledger, in order.
        alive: the ids of entities that are still there.
    """
    parents: dict[str, str] = {}

    def root(id: str) -> str:
        path: list[str] = []
        while id in parents:
            path.append(id)
            id = parents[id]
        for passed in path:  # straight at the root, so that no chain is walked again and again
            parents[passed] = id
        return id

    in_force = [merge for merge in merges if merge.undone_at is None]
    for merge in in_force:
        source, target = root(merge.source), root(merge.target)
        if source != target:
            parents[source] = target
    groups: dict[str, list[str]] = {}
    for id in dict.fromkeys(id for merge in in_force for id in (merge.source, merge.target)):
        groups.setdefault(root(id), []).append(id)
    living = frozenset(alive)
    found: dict[str, str] = {}
    for top, members in groups.items():
        held = sorted(living.intersection(members))
        if held:
            # Where the root itself is gone, the entity that has been there longest takes its place.
            chosen = top if top in living else held[0]
            found.update(dict.fromkeys(held, chosen))
    return found


def check_merge(request: MergeRequest, roots: Mapping[str, str]) -> None:
    """Refuse to merge what is one entity already.

    Raises:
        InvalidInput
    """
    if roots.get(request.source, request.source) == roots.get(request.target, request.target):
        raise InvalidInput.of("into", "is the same entity already, so that merging would make a circle")


def shown(held: Sequence[NamedEntity], roots: Mapping[str, str]) -> tuple[Entity, ...]:
    """The entities as the seam shows them, in the order given. Every member of a group must be there."""
    spellings: dict[str, Counter[str]] = {}
    for entity in held:
        root = roots.get(entity.id, entity.id)
        spellings[root] = spellings.get(root, Counter[str]()) + entity.spellings
    entities: list[Entity] = []
    for entity in held:
        root = roots.get(entity.id, entity.id)
        name = _usual(entity.spellings)
        known = spellings[root] if root == entity.id else entity.spellings
        aliases = tuple(sorted(spelling for spelling in known if spelling != name))
        entities.append(Entity(entity.id, entity.scope, name, aliases, None if root == entity.id else root))
    return tuple(entities)


def _usual(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling))
