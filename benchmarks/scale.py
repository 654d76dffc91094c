"""How the Postgres store grows, and what it costs beside SQLite, in one run.

    python benchmarks/scale.py [--sizes 10000,100000,1000000,10000000] [--calls 200] [--url postgresql://…]

Without --url the server of the tests is started in a temporary folder, and asked as in earnest: by a role that owns
nothing, and with `fsync`. With it, the database has to be empty and of a role that may do everything. The first 10,000
memories go in through the provider, the callers' own among them; the rest are copies of other people's, made in the
database under scopes of their own.

For each size: bytes a memory takes by table, and calls over stdio as in latency.py, as ratios to the call that does
nothing. At the first size the same caller is asked of a SQLite store of the same memories too, turn by turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from facts import AT, CALLERS, QUERIES, filled, record
from latency import GROWTH_LIMIT, HEADS, measure, report, word
from stdio_client import attached

from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.migrating import MigrationRequest
from mcp_memory_server.providers.postgres import open_postgres
from mcp_memory_server.providers.postgres.connecting import driver
from mcp_memory_server.providers.postgres.migrate import migrate

sys.path.append(str(Path(__file__).parent.parent))
from tests.providers.postgres_server import own_server, with_connection
from tests.providers.postgres_server import run as run_alone

SEED: Final = 10_000
BESIDE_SQLITE_LIMIT: Final = 2
AS_IN_EARNEST: Final = {"fsync": "on", "max_wal_size": "'4GB'"}

_ORIGINALS: Final = """
scope_id IN (SELECT scope_id FROM mcp_memory.scope WHERE token LIKE 'actor:other-%' AND token NOT LIKE '%/%')
"""
_COPY_SCOPES: Final = f"""
INSERT INTO mcp_memory.scope (scope_id, token, generation, last_number)
SELECT md5(scope_id::text || copy)::uuid, token || '/' || copy, generation, last_number
FROM mcp_memory.scope, generate_series($1::int, $2::int) AS copy WHERE {_ORIGINALS}
"""
_COPY_RECORDS: Final = f"""
INSERT INTO mcp_memory.memory
SELECT md5(scope_id::text || copy)::uuid, number, id || '/' || copy, {{rest}}
FROM mcp_memory.memory, generate_series($1::int, $2::int) AS copy WHERE {_ORIGINALS}
"""
_COPY_SIGNATURES: Final = f"""
INSERT INTO mcp_memory.signature
SELECT md5(scope_id::text || copy)::uuid, {{rest}}
FROM mcp_memory.signature, generate_series($1::int, $2::int) AS copy WHERE {_ORIGINALS}
"""
_COLUMNS: Final = """
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > $2 AND NOT attisdropped
"""
_BYTES: Final = """
SELECT relname, sum(pg_table_size(part.relid))::bigint, sum(pg_indexes_size(part.relid))::bigint
FROM pg_class, pg_partition_tree(pg_class.oid) AS part
WHERE relnamespace = 'mcp_memory'::regnamespace AND relkind IN ('p', 'r') AND NOT relispartition
GROUP BY relname HAVING sum(pg_table_size(part.relid)) > 1000000 ORDER BY 2 DESC
"""
_BATCH: Final = 50
"""Copies in one transaction: about 370,000 memories."""


@contextmanager
def database(url: str | None) -> Generator[tuple[str, str]]:
    """An empty store as a server and as a superuser connect to it: in the database given, or on a server of our own."""
    if url is not None:
        with_connection(url, lambda connection: migrate(connection, MigrationRequest()))
        yield url, url
        return
    with own_server() as (_, cluster):
        for name, value in AS_IN_EARNEST.items():
            run_alone(cluster.url, f"ALTER SYSTEM SET {name} = {value}")
        run_alone(cluster.url, "SELECT pg_reload_conf()")
        urls = cluster.blank()
        request = MigrationRequest(server_role=cluster.role)
        with_connection(urls.owner_url, lambda connection: migrate(connection, request))
        yield urls.url, urls.admin_url


async def seed(url: str) -> None:
    """The callers' memories and the first of other people's, through the provider."""
    async with open_postgres(url) as provider:
        for start in range(0, SEED, 2_000):
            records = tuple((record(number),) for number in range(start, start + 2_000))
            await provider.restore(RestoreRequest(records, AT))


async def grow(url: str, size: int) -> dict[str, tuple[int, int]]:
    """Copy other people's memories until there are about `size`; bytes of each larger table and of its indexes."""
    connection: Any = await driver.connect(url)
    await connection.execute("SET mcp_memory.scopes = '*'; SET synchronous_commit = off")
    held = await connection.fetchval("SELECT count(*) FROM mcp_memory.memory")
    originals = await connection.fetchval(f"SELECT count(*) FROM mcp_memory.memory WHERE {_ORIGINALS}")
    first = (held - SEED) // originals + 1
    last = (size - SEED) // originals
    memory_rest = await connection.fetchval(_COLUMNS, "mcp_memory.memory", 3)
    signature_rest = await connection.fetchval(_COLUMNS, "mcp_memory.signature", 1)
    for start in range(first, last + 1, _BATCH):
        span = (start, min(start + _BATCH - 1, last))
        async with connection.transaction():
            await connection.execute(_COPY_SCOPES, *span)
            await connection.execute(_COPY_RECORDS.format(rest=memory_rest), *span)
            await connection.execute(_COPY_SIGNATURES.format(rest=signature_rest), *span)
    await connection.execute("VACUUM ANALYZE")
    sizes = {name: (table, indexes) for name, table, indexes in await connection.fetch(_BYTES)}
    await connection.close()
    return sizes


def show_bytes(size: int, sizes: dict[str, tuple[int, int]]) -> None:
    parts = [f"{name} {table / size:.0f} + {indexes / size:.0f}" for name, (table, indexes) in sizes.items()]
    total = sum(table + indexes for table, indexes in sizes.values())
    print(f"{size:>9} bytes a memory, table + indexes: {', '.join(parts)}; in all {total / size:.0f}", flush=True)


def beside_sqlite(postgres: str, sqlite: str, calls: int) -> float:
    """Warm recall over Postgres as a multiple of the same over SQLite: the median of both, asked turn by turn."""
    waited: dict[str, list[float]] = {postgres: [], sqlite: []}
    with ExitStack() as stack:
        clients = {
            url: stack.enter_context(
                attached(["-m", "mcp_memory_server", "--url", url, "--actor", "small", "--log-level", "ERROR"])
            )
            for url in waited
        }
        for number in range(calls + len(QUERIES)):
            query = {"query": QUERIES[number % len(QUERIES)]}
            for url, client in clients.items():
                taken = client.call("recall_digest", query)
                if number >= len(QUERIES):  # each question was asked once
                    waited[url].append(taken)
    return statistics.median(waited[postgres]) / statistics.median(waited[sqlite])


def run(url: str, admin_url: str, folder: Path, sizes: list[int], calls: int) -> None:
    anyio.run(seed, url)
    ratio = beside_sqlite(url, anyio.run(filled, folder, SEED), calls)
    print(f"warm recall of 200 facts: {ratio:.2f} x the same over SQLite; {word(ratio, BESIDE_SQLITE_LIMIT)}")
    print(HEADS)
    first: dict[str, float] = {}
    for size in sizes:
        started = time.monotonic()
        bytes_held = anyio.run(grow, admin_url, size)
        print(f"{size:>9} memories after {time.monotonic() - started:.0f} s of copying")
        show_bytes(size, bytes_held)
        for actor in CALLERS:
            times = measure(url, actor, calls)
            report(size, actor, times)
            ratio = times["warm recall"].p50 / times["nothing"].p50
            grown = ratio / first.setdefault(actor, ratio)
            if size > sizes[0]:
                print(f"{'':16} warm recall, as a ratio, grew {grown:.2f} times: {word(grown, GROWTH_LIMIT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000,10000000", help="memories in the store, ascending")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--url", help="an empty database of a role that may do everything; else one is started")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch, database(options.url) as (url, admin_url):
        run(url, admin_url, Path(scratch), sizes, options.calls)


if __name__ == "__main__":
    main()
