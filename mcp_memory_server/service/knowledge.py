"""Triples and what they are about: relate, describe, and say which names mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from mcp_memory_server.errors import InvalidInput, NotFound, Problem
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.kinds.form import Form
from mcp_memory_server.kinds.triples import TRIPLE, normal_name
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import (
    Entity,
    EntityRequest,
    Filter,
    LedgerRequest,
    Merge,
    MergeRequest,
    UnmergeRequest,
)
from mcp_memory_server.providers.entity_names import fold_name
from mcp_memory_server.records import MAX_KEY_CHARS, Author, MemoryRecord, Sensitivity

from .entities import MOST_MENTIONS, KnownEntity, entity_provider, known_entities, names, records_naming, spellings
from .remember import Remembered, RememberRequest, Where, own_scope, problems_of, remember
from .trust import refuse_credentials
from .wiring import Wiring

_NOT_IN_KEYS: Final = re.compile(r"[\[\]:]")
_DIGEST_CHARS: Final = 8
_REMEDY: Final = "Give a name as a fact spells it; case and spacing do not matter."


@dataclass(frozen=True, slots=True)
class Relation:
    """A triple to record, as given. `fact` says it in a sentence, by default its three parts in a row.

    `key` names the question that it answers, so that another answer replaces it; by default every triple is a
    question of its own.
    """

    subject: str
    predicate: str
    object: str
    fact: str | None = None
    key: str | None = None
    where: Where = "everywhere"
    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another entity in a triple with this one. `outward`: this one is the subject."""

    name: str
    predicate: str | None
    direction: Literal["outward", "inward"]
    record: MemoryRecord


@dataclass(frozen=True, slots=True)
class Description:
    """An entity by the name that is usual, its other names, and the newest records that name it, newest first.

    `more`: there may be older ones.
    """

    name: str
    aliases: tuple[str, ...]
    as_subject: tuple[MemoryRecord, ...]
    as_object: tuple[MemoryRecord, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class MergeCommand:
    """Say that two names mean the same at one scope, by default the actor's own.

    `author` and `elevated` are the host's word for who says so, as for a write.
    """

    source: str
    into: str
    scope: str | None = None
    author: Author = "agent"
    elevated: bool = False


@dataclass(frozen=True, slots=True)
class UnmergeCommand:
    """Take back a merge, by its id in the ledger."""

    merge: str
    author: Author = "agent"
    elevated: bool = False


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The use cases about entities. Each raises `NotSupported` where the provider knows none."""

    wiring: Wiring

    async def relate(self, context: RequestContext, relation: Relation) -> Remembered:
        """Record a triple as an assistant's conclusion, by the rules of `remember`.

        Raises:
            InvalidInput: every wrong argument; nothing was stored.
            CredentialRefused, Refused, Conflict, NotSupported: as `remember` does.
        """
        entity_provider(self.wiring.provider)
        subject, predicate, object = self._normalised(relation)
        request = RememberRequest(
            key=relation.key or _key_of(subject, predicate, object),
            fact=relation.fact or f"{subject} {predicate} {object}",
            where=relation.where,
            sensitivity=relation.sensitivity,
            form=Form(subject=subject, predicate=predicate, object=object),
        )
        return await remember(self.wiring, context, request)

    def _normalised(self, relation: Relation) -> tuple[str, str, str]:
        refuse_credentials({name: getattr(relation, name) for name in TRIPLE})
        parts: list[str] = []
        problems: list[Problem] = []
        for argument in TRIPLE:
            try:
                parts.append(_name(argument, getattr(relation, argument)))
            except InvalidInput as error:
                problems.extend(error.problems)
        given = {name: getattr(relation, name) for name in ("key", "fact", "sensitivity")}
        problems += problems_of(given, self.wiring.limits.max_fact_chars) if problems else []
        if problems:
            raise InvalidInput(*problems)
        subject, predicate, object = parts
        return subject, predicate, object

    async def describe(self, context: RequestContext, name: str) -> Description:
        """What is known about an entity, as far as the session may be shown it.

        Raises:
            NotFound: no record that the session may be shown names it.
        """
        known, records = await self._named(context, name)
        usual, *aliases = spellings(records, known)
        return Description(
            usual,
            tuple(aliases),
            tuple(record for record in records if known.is_named_by(record.subject)),
            tuple(record for record in records if known.is_named_by(record.object)),
            more=len(records) >= MOST_MENTIONS,
        )

    async def neighbours(self, context: RequestContext, name: str) -> tuple[Neighbour, ...]:
        """The entities in triples with this one, by the newest record first; each by the name that is usual here.

        Raises:
            NotFound: as `describe` does.
        """
        known, records = await self._named(context, name)
        ends = [
            (end, direction, record)
            for record in records
            for end, other, direction in (
                (record.object, record.subject, "outward"),
                (record.subject, record.object, "inward"),
            )
            if end is not None and known.is_named_by(other) and not known.is_named_by(end)
        ]
        scopes = await self._scopes(context)
        others = await known_entities(entity_provider(self.wiring.provider), scopes, [end for end, _, _ in ends])
        usual = {each.folded: spellings(records, each)[:1] for each in others}

        def name_of(end: str) -> str:
            return next((name for each in others if each.is_named_by(end) for name in usual[each.folded]), end)

        return tuple(
            Neighbour(name_of(end), record.predicate, "outward" if direction == "outward" else "inward", record)
            for end, direction, record in ends
        )

    async def merge(self, context: RequestContext, command: MergeCommand) -> Merge:
        """Note that two names mean the same; `unmerge` with the id of the answer takes it back.

        Raises:
            NotFound: nothing at that scope that may be shown names one of them.
            InvalidInput: they are one entity already.
            Refused: the scope is not the author's to write at.
        """
        provider = entity_provider(self.wiring.provider)
        scope = command.scope or own_scope(context, "everywhere")
        scopes = await self._scopes(context)
        write_verdict(context.actor, scopes, scope, command.author, command.elevated).require()
        source, target = [await self._entity_at(context, scope, name) for name in (command.source, command.into)]
        request = MergeRequest(scope, source.id, target.id, context.actor.id, self.wiring.now())
        merge = await provider.merge(request)
        if merge is None:  # forgotten meanwhile
            raise NotFound("entity", command.source, _REMEDY)
        return merge

    async def unmerge(self, context: RequestContext, command: UnmergeCommand) -> Merge:
        """Take back a merge at one of the scopes that apply.

        Raises:
            NotFound: unknown, foreign and undone merges get the same error.
            Refused: the scope is not the author's to write at.
        """
        provider = entity_provider(self.wiring.provider)
        scopes = await self._scopes(context)
        lines = await provider.merges(LedgerRequest(scopes))
        line = next((line for line in lines if line.id == command.merge and line.scope in scopes), None)
        undone = None
        if line is not None:
            write_verdict(context.actor, scopes, line.scope, command.author, command.elevated).require()
            undone = await provider.unmerge(UnmergeRequest(line.scope, line.id, context.actor.id, self.wiring.now()))
        if undone is None:
            raise NotFound("merge in force", command.merge, "Look them up with `mcp-memory-server entities ledger`.")
        return undone

    async def entities(self, scopes: Sequence[str]) -> tuple[Entity, ...]:
        """Every entity at the scopes, for a person at the console who was asked whom these apply to."""
        return await entity_provider(self.wiring.provider).entities(EntityRequest(tuple(scopes)))

    async def ledger(self, scopes: Sequence[str]) -> tuple[Merge, ...]:
        """Every merge and unmerge at the scopes, oldest first; likewise."""
        return await entity_provider(self.wiring.provider).merges(LedgerRequest(tuple(scopes)))

    async def _scopes(self, context: RequestContext) -> tuple[str, ...]:
        return tuple(await self.wiring.resolver.resolve(context))

    async def _named(self, context: RequestContext, name: str) -> tuple[KnownEntity, list[MemoryRecord]]:
        """The entity and the records that name it, of which there is at least one."""
        return await self._shown(await self._scopes(context), name, self.wiring.shown_now(context))

    async def _shown(self, scopes: Sequence[str], name: str, seen: Filter) -> tuple[KnownEntity, list[MemoryRecord]]:
        provider = entity_provider(self.wiring.provider)
        known = [each for each in await known_entities(provider, scopes, [name]) if each.is_named_by(name)]
        records = await records_naming(provider, scopes, known, seen)
        # One that only a hidden record calls so must look as if nobody had heard of it.
        if not records or fold_name(name) not in map(fold_name, spellings(records, known[0])):
            raise NotFound("entity", name, _REMEDY)
        return known[0], [record for record in records if names(record, known[:1])]

    async def _entity_at(self, context: RequestContext, scope: str, name: str) -> Entity:
        """The entity that has exactly this name at one scope, not what it is merged into."""
        known, _ = await self._shown((scope,), name, self.wiring.shown_now(context))
        return next(entity for entity in known.entities if fold_name(entity.name) == fold_name(name))


def _name(argument: str, given: str) -> str:
    name = normal_name(argument, given)
    if not fold_name(name):
        raise InvalidInput.of(argument, "holds nothing that could be a name")
    return name


def _key_of(*parts: str) -> str:
    """The key of a triple: the same for every spelling of it, and as much of it as a key holds."""
    key = _NOT_IN_KEYS.sub("-", " ".join(map(fold_name, parts)))
    if len(key) <= MAX_KEY_CHARS:
        return key
    mark = sha256(key.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{key[: MAX_KEY_CHARS - _DIGEST_CHARS - 1].rstrip()}-{mark}"
