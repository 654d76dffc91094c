"""Vectors beside the records: whose they are, which records lack them, and what they do to a search."""

from __future__ import annotations

from mcp_memory_server.providers.base import (
    EmbeddedQuery,
    ForgetRequest,
    Group,
    Hit,
    RecordVectors,
    SearchRequest,
    VectorCount,
    VectorsWrite,
    VersionRef,
)
from mcp_memory_server.records import MemoryRecord

from .registry import check
from .samples import ANN, BOB, EVERYONE, minute, remember, writing
from .store import EveryGroup, Store, opened

EMBEDDER = "toy:one"
"""An embedder of two dimensions: what is about animals lies east, what is about money lies north."""
EAST, NORTH = bytes((127, 0)), bytes((0, 127))


async def _embed(
    provider: EveryGroup, record: MemoryRecord, pooled: bytes, embedder: str = EMBEDDER, tokens: bytes | None = None
) -> int:
    vectors = RecordVectors(record.scope, VersionRef(record.id, record.version), pooled, tokens)
    return await provider.put_vectors(VectorsWrite(embedder, (vectors,)))


async def _asked(provider: EveryGroup, query: str, *scopes: str, embedder: str = EMBEDDER) -> list[str]:
    """The keys found for a question about animals."""
    return [hit.record.key for hit in await _found(provider, query, *scopes, embedder=embedder)]


async def _found(
    provider: EveryGroup, query: str, *scopes: str, embedder: str = EMBEDDER, by_tokens: bool = False
) -> tuple[Hit, ...]:
    import numpy as np  # noqa: PLC0415  # with ranking only

    from mcp_memory_server.ranking import QueryVectors  # noqa: PLC0415

    east = np.array([1.0, 0.0], dtype=np.float32)
    vectors = QueryVectors(east, east[np.newaxis], ("animals",)) if by_tokens else QueryVectors(east)
    request = SearchRequest(scopes or (ANN,), query, 5, minute(9), EmbeddedQuery(embedder, vectors))
    return await provider.search(request)


@check(Group.WRITE, Group.VECTORS)
async def where_nothing_has_a_vector_yet_words_alone_rank(store: Store) -> None:
    """Whatever the store holds vectors of at other scopes, or of other embedders."""
    async with opened(store) as provider:
        pet = await remember(provider, "pet", "Keeps two cats and pays for them on the first")
        await remember(provider, "rent", "Pays the rent on the first of each month", at=1)
        words = await provider.search(SearchRequest((ANN,), "who pays on the first", 5, minute(9)))
        assert await _found(provider, "who pays on the first") == words
        await _embed(provider, await remember(provider, "note", "Pays on the first", EVERYONE), EAST)
        assert await _found(provider, "who pays on the first") == words
        await _embed(provider, pet, EAST, embedder="toy:other")
        assert await _found(provider, "who pays on the first") == words


@check(Group.WRITE, Group.VECTORS)
async def a_record_is_found_by_its_vector_where_no_word_matches(store: Store) -> None:
    async with opened(store) as provider:
        await _embed(provider, await remember(provider, "pet", "Keeps two cats"), EAST)
        await _embed(provider, await remember(provider, "rent", "Pays on the first"), NORTH)
        assert (await _asked(provider, "zoology"))[0] == "pet"


@check(Group.WRITE, Group.VECTORS)
async def words_decide_about_records_without_vectors(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "zoo", "Visits the zoology museum")
        await _embed(provider, await remember(provider, "rent", "Pays on the first"), NORTH)
        assert (await _asked(provider, "zoology"))[0] == "zoo"


@check(Group.WRITE, Group.VECTORS)
async def vectors_of_another_embedder_are_not_compared(store: Store) -> None:
    async with opened(store) as provider:
        await _embed(provider, await remember(provider, "pet", "Keeps two cats"), EAST, embedder="toy:other")
        assert await _asked(provider, "zoology") == []
        assert await _asked(provider, "zoology", embedder="toy:other") == ["pet"]
        assert await _asked(provider, "zoology") == []


@check(Group.WRITE, Group.VECTORS)
async def token_vectors_tell_records_apart_that_are_equally_near(store: Store) -> None:
    async with opened(store) as provider:
        pet, farm = [await remember(provider, key, text) for key, text in (("pet", "Two cats"), ("farm", "Six hens"))]
        for nearer, other in ((pet, farm), (farm, pet)):
            await _embed(provider, nearer, EAST, tokens=NORTH + EAST)
            await _embed(provider, other, EAST, tokens=NORTH + NORTH)
            found = await _found(provider, "zoology", by_tokens=True)
            assert [hit.record for hit in found] == [nearer, other]
        await _embed(provider, farm, EAST)
        found = await _found(provider, "zoology", by_tokens=True)
        assert {hit.record.key: hit.signals["tokens"] > 0 for hit in found} == {"pet": False, "farm": True}


@check(Group.WRITE, Group.VECTORS)
async def token_vectors_of_another_embedder_are_not_compared(store: Store) -> None:
    async with opened(store) as provider:
        pet, farm = [await remember(provider, key, text) for key, text in (("pet", "Two cats"), ("farm", "Six hens"))]
        await _embed(provider, farm, EAST, tokens=EAST)
        before = await _found(provider, "zoology cats", by_tokens=True)
        await _embed(provider, pet, EAST, embedder="toy:other", tokens=NORTH)
        assert await _found(provider, "zoology cats", by_tokens=True) == before


@check(Group.WRITE, Group.VECTORS)
async def records_without_vectors_of_an_embedder_are_told(store: Store) -> None:
    async with opened(store) as provider:
        pet = await remember(provider, "pet", "Keeps two cats")
        rent = await remember(provider, "rent", "Pays on the first", scope=BOB)
        assert {record.id for record in await provider.unembedded(EMBEDDER, 5)} == {pet.id, rent.id}
        assert len(await provider.unembedded(EMBEDDER, 1)) == 1
        assert await _embed(provider, pet, EAST) == 1
        assert await provider.unembedded(EMBEDDER, 5) == (rent,)
        assert await provider.count_vectors(EMBEDDER) == VectorCount(searchable=2, embedded=1)
        await _embed(provider, rent, NORTH, embedder="toy:other")
        assert await provider.unembedded(EMBEDDER, 5) == (rent,)
        assert await provider.unembedded("toy:other", 5) == (pet,)


@check(Group.WRITE, Group.VECTORS)
async def a_new_version_has_no_vectors_until_it_gets_its_own(store: Store) -> None:
    async with opened(store) as provider:
        old = await remember(provider, "pet", "Keeps two cats")
        await _embed(provider, old, EAST)
        new = await remember(provider, "pet", "Keeps no animal", at=1)
        assert await _asked(provider, "zoology") == []
        assert await _embed(provider, old, EAST) == 0
        assert await provider.unembedded(EMBEDDER, 5) == (new,)


@check(Group.WRITE, Group.VECTORS)
async def vectors_lead_nobody_to_another_scope(store: Store) -> None:
    async with opened(store) as provider:
        pet = await remember(provider, "pet", "Keeps two cats", scope=BOB)
        await _embed(provider, pet, EAST)
        assert await _asked(provider, "zoology") == []
        assert await _asked(provider, "zoology", BOB) == ["pet"]
        elsewhere = RecordVectors(ANN, VersionRef(pet.id, pet.version), NORTH)
        assert await provider.put_vectors(VectorsWrite(EMBEDDER, (elsewhere,))) == 0


@check(Group.WRITE, Group.VECTORS)
async def a_quarantined_record_gets_no_vectors(store: Store) -> None:
    async with opened(store) as provider:
        held = (await provider.write(writing("pet", "Keeps two cats", status="quarantined"))).record
        assert await provider.unembedded(EMBEDDER, 5) == ()
        assert await _embed(provider, held, EAST) == 0


@check(Group.WRITE, Group.VECTORS)
async def forgetting_takes_the_vectors(store: Store) -> None:
    async with opened(store) as provider:
        pet = await remember(provider, "pet", "Keeps two cats")
        await _embed(provider, pet, EAST)
        await provider.forget(ForgetRequest(ANN, pet.id, by="ann", at=minute(1)))
        assert await _asked(provider, "zoology") == []
        assert await provider.count_vectors(EMBEDDER) == VectorCount(searchable=0, embedded=0)
        assert await _embed(provider, pet, EAST) == 0
