"""Stores of many facts for the benchmarks: two callers' own, and the rest other people's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mcp_memory_server import MemoryOrigin, MemoryRecord
from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.sqlite import open_sqlite

AT: Final = "2026-01-01T00:00:00.000Z"
ORIGIN: Final = MemoryOrigin(author="agent")
CALLERS: Final = {"small": 200, "large": 2_400}
OTHERS_EACH: Final = 200
QUERIES: Final = (
    "Which database does Priya prefer for billing?",
    "What moved to Gdansk in the spring?",
    "Who owns the rollout of the search service?",
    "When is the next release of checkout?",
    "What does Kofi like for lunch?",
)

_BATCH: Final = 20_000
_PEOPLE: Final = [
    "Marta",
    "Jonas",
    "Aiko",
    "Priya",
    "Diego",
    "Ines",
    "Kofi",
    "Lena",
    "Omar",
    "Sara",
    "Tomas",
    "Yuki",
    "Nadia",
    "Piotr",
    "Elif",
    "Hugo",
]
_PLACES: Final = [
    "Lyon",
    "Gdansk",
    "Osaka",
    "Pune",
    "Bogota",
    "Porto",
    "Accra",
    "Bremen",
    "Beirut",
    "Uppsala",
    "Brno",
    "Sapporo",
    "Varna",
]
_SERVICES: Final = [
    "billing",
    "ledger",
    "search",
    "notification",
    "checkout",
    "onboarding",
    "reporting",
    "inventory",
    "payroll",
    "identity",
]
_STORES: Final = ["Postgres", "SQLite", "DuckDB", "MySQL", "Redis", "Cassandra", "ClickHouse"]


def fact(number: int) -> str:
    person, place = _PEOPLE[number % 16], _PLACES[number % 13]
    service, store = _SERVICES[number % 10], _STORES[number % 7]
    return (
        f"{person} prefers {store} for the {service} service, works from {place}, and reviews every migration "
        f"of round {number} before it ships."
    )


def actor(number: int) -> str:
    """Whose fact that is: first come the callers', then 200 of each of the others."""
    for name, count in CALLERS.items():
        if number < count:
            return name
        number -= count
    return f"other-{number // OTHERS_EACH}"


def record(number: int) -> MemoryRecord:
    return MemoryRecord(
        id=f"fact-{number}",
        key=f"fact-{number}",
        text=fact(number),
        scope=f"actor:{actor(number)}",
        origin=ORIGIN,
        created_at=AT,
        updated_at=AT,
    )


async def filled(folder: Path, size: int) -> str:
    """The URL of a store of `size` facts in `folder`, as an earlier run left it or made now."""
    path = folder / f"memory-{size}.db"
    unfinished = path.with_suffix(".part")
    if not path.exists():
        async with open_sqlite(f"sqlite:///{unfinished}", synchronous="NORMAL") as provider:
            for start in range(0, size, _BATCH):
                numbers = range(start, min(start + _BATCH, size))
                await provider.restore(RestoreRequest(tuple((record(number),) for number in numbers), AT))
        unfinished.rename(path)  # closing has folded the log in
    return f"sqlite:///{path}"
