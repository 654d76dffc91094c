-- A durable write puts every page that it touches into the log. This takes three of eleven away:
-- * The generation that a scope is at is that of its last row in `signature` or `removal` (reading.GENERATION). The
--   column of `scope` is kept up no more. It goes by another name, so that a process of an earlier release that still has
--   the store open fails instead of answering with what it held before; by its width salvage tells the table's rows.
-- * Numbers of records come from the cursor of the change feed, which is never used twice: its newest line is never
--   pruned. So no table of sequences has to be written beside it.
-- * Without an embedder no row has vectors: the index of those is made with the first (vectors.py).

ALTER TABLE scope RENAME COLUMN generation TO unused;

DROP INDEX signature_embedder;

CREATE TABLE change_line (
    cursor      INTEGER PRIMARY KEY,
    scope       TEXT NOT NULL,
    id          TEXT NOT NULL
);
INSERT INTO change_line (cursor, scope, id) SELECT cursor, scope, id FROM change ORDER BY cursor;

-- Numbers of records that are gone stay used up: a line about nothing, where the feed is not as far as they are.
INSERT INTO change_line (cursor, scope, id)
SELECT max(seq), '', '' FROM sqlite_sequence WHERE name IN ('memory', 'change')
HAVING max(seq) > (SELECT coalesce(max(cursor), 0) FROM change_line);

DROP TABLE change;
ALTER TABLE change_line RENAME TO change;

CREATE TABLE memory_by_cursor (
    number      INTEGER PRIMARY KEY,            -- never reused: caches of ranking rows go by it
    id          TEXT NOT NULL UNIQUE,
    scope_id    INTEGER NOT NULL REFERENCES scope (id),
    key         TEXT NOT NULL,
    text        TEXT NOT NULL,
    created_at  TEXT,
    updated_at  TEXT NOT NULL,
    version     INTEGER NOT NULL,
    pinned      INTEGER NOT NULL,
    status      TEXT NOT NULL,
    details     TEXT NOT NULL,                  -- JSON: the record's other fields, defaults left out
    lane        TEXT NOT NULL DEFAULT '',       -- stands behind the columns that it follows from: salvage goes by width

    -- What lists and searches are narrowed by, out of `details`; nothing is stored.
    kind        TEXT AS (coalesce(details ->> '$.kind', 'semantic')) VIRTUAL,
    owner       TEXT AS (coalesce(details ->> '$.owner', 'user')) VIRTUAL,
    sensitivity TEXT AS (coalesce(details ->> '$.sensitivity', 'internal')) VIRTUAL,
    provenance  TEXT AS (details ->> '$.provenance') VIRTUAL,
    importance  REAL AS (coalesce(details ->> '$.importance', 0.5)) VIRTUAL,
    valid_from  TEXT AS (details ->> '$.valid_from') VIRTUAL,
    valid_to    TEXT AS (details ->> '$.valid_to') VIRTUAL,
    archived_at TEXT AS (details ->> '$.archived_at') VIRTUAL,
    started_at  TEXT AS (details ->> '$.episode.started_at') VIRTUAL,
    thread      TEXT AS (details ->> '$.origin.thread_id') VIRTUAL,
    actor_ref   TEXT AS (details ->> '$.origin.actor_ref') VIRTUAL,

    UNIQUE (scope_id, key, lane)
);
INSERT INTO memory_by_cursor (
    number, id, scope_id, key, text, created_at, updated_at, version, pinned, status, details, lane
)
SELECT number, id, scope_id, key, text, created_at, updated_at, version, pinned, status, details, lane
FROM memory ORDER BY number;

DROP TABLE memory;
ALTER TABLE memory_by_cursor RENAME TO memory;

CREATE UNIQUE INDEX memory_place ON memory (scope_id, id);
CREATE INDEX memory_newest ON memory (scope_id, status, updated_at DESC, key);
CREATE INDEX memory_pinned ON memory (scope_id, key) WHERE pinned;
CREATE INDEX memory_apart ON memory (scope_id, key) WHERE lane <> '';
CREATE INDEX memory_conditional ON memory (scope_id)
WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL OR started_at IS NOT NULL OR archived_at IS NOT NULL
   OR sensitivity = 'secret' OR kind = 'session';
