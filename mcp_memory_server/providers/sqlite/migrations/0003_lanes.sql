-- What waits for review, and what holds for one thread only, stands beside the fact of its key: each in a lane of its
-- own (records.lane_of). SQLite cannot change a UNIQUE constraint, so the table is made anew.

CREATE TABLE memory_in_lanes (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: caches of ranking rows go by it
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

INSERT INTO memory_in_lanes (
    number, id, scope_id, key, text, created_at, updated_at, version, pinned, status, details, lane
)
SELECT
    number, id, scope_id, key, text, created_at, updated_at, version, pinned, status, details,
    CASE
        WHEN status = 'quarantined' THEN 'held:' || id
        WHEN details ->> '$.kind' = 'session' THEN 'session:' || coalesce(details ->> '$.origin.thread_id', '')
        ELSE ''
    END
FROM memory;

-- Numbers of records that are gone stay used up.
DELETE FROM sqlite_sequence WHERE name = 'memory_in_lanes';
INSERT INTO sqlite_sequence (name, seq) SELECT 'memory_in_lanes', seq FROM sqlite_sequence WHERE name = 'memory';

DROP TABLE memory;
ALTER TABLE memory_in_lanes RENAME TO memory;

CREATE INDEX memory_newest ON memory (scope_id, status, updated_at DESC, key);
CREATE INDEX memory_pinned ON memory (scope_id, key) WHERE pinned;
CREATE INDEX memory_apart ON memory (scope_id, key) WHERE lane <> '';

-- Replaced versions are read by the same names.
ALTER TABLE history ADD COLUMN kind TEXT AS (coalesce(details ->> '$.kind', 'semantic')) VIRTUAL;
ALTER TABLE history ADD COLUMN owner TEXT AS (coalesce(details ->> '$.owner', 'user')) VIRTUAL;
ALTER TABLE history ADD COLUMN sensitivity TEXT AS (coalesce(details ->> '$.sensitivity', 'internal')) VIRTUAL;
ALTER TABLE history ADD COLUMN valid_from TEXT AS (details ->> '$.valid_from') VIRTUAL;
ALTER TABLE history ADD COLUMN valid_to TEXT AS (details ->> '$.valid_to') VIRTUAL;
ALTER TABLE history ADD COLUMN started_at TEXT AS (details ->> '$.episode.started_at') VIRTUAL;
ALTER TABLE history ADD COLUMN thread TEXT AS (details ->> '$.origin.thread_id') VIRTUAL;
