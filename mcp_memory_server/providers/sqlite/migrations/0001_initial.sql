-- Instants are TEXT in the canonical UTC form, so that they compare in time order.

CREATE TABLE scope (
    id          INTEGER PRIMARY KEY,
    token       TEXT NOT NULL UNIQUE,
    generation  INTEGER NOT NULL DEFAULT 0      -- +1 in every transaction that changes the scope's records
);

CREATE TABLE memory (
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
    UNIQUE (scope_id, key)
);
CREATE INDEX memory_newest ON memory (scope_id, status, updated_at DESC, key);
CREATE INDEX memory_pinned ON memory (scope_id, key) WHERE pinned;

-- Replaced versions as they were when current. Closing them is a matter of reading.
CREATE TABLE history (
    id          TEXT NOT NULL REFERENCES memory (id),
    version     INTEGER NOT NULL,
    key         TEXT NOT NULL,
    text        TEXT NOT NULL,
    created_at  TEXT,
    updated_at  TEXT NOT NULL,
    pinned      INTEGER NOT NULL,
    status      TEXT NOT NULL,
    details     TEXT NOT NULL,
    PRIMARY KEY (id, version)
) WITHOUT ROWID;

-- One row a searchable memory, clustered by scope: what ranking reads, without any text.
CREATE TABLE signature (
    scope_id    INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    generation  INTEGER NOT NULL,               -- the scope's, when this row was written
    key         TEXT NOT NULL,
    thread      TEXT NOT NULL,
    time_ms     INTEGER NOT NULL,
    lexical     BLOB NOT NULL,
    PRIMARY KEY (scope_id, number)
) WITHOUT ROWID;
CREATE INDEX signature_changed ON signature (scope_id, generation);

-- Numbers that left the signatures of a scope, for caches that are a few generations behind.
CREATE TABLE removal (
    scope_id    INTEGER NOT NULL,
    generation  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    PRIMARY KEY (scope_id, generation, number)
) WITHOUT ROWID;

CREATE TABLE journal (
    digest_id   TEXT PRIMARY KEY,
    actor_id    TEXT NOT NULL,
    turn_id     TEXT,
    at          TEXT NOT NULL,
    body        TEXT NOT NULL                   -- JSON: scopes, counts and references to versions, never text
) WITHOUT ROWID;
CREATE UNIQUE INDEX journal_turn ON journal (actor_id, turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX journal_age ON journal (at);

-- The change feed, pruned from its old end.
CREATE TABLE change (
    cursor      INTEGER PRIMARY KEY AUTOINCREMENT,
    scope       TEXT NOT NULL,
    id          TEXT NOT NULL
);

-- What stays of a forgotten record.
CREATE TABLE audit (
    id          TEXT NOT NULL,
    scope       TEXT NOT NULL,
    actor_id    TEXT NOT NULL,
    at          TEXT NOT NULL,
    reason      TEXT NOT NULL
);
CREATE INDEX audit_id ON audit (id);

-- Erasures whose bytes may still lie in the files: completed by whichever process next can.
CREATE TABLE erasure (
    number      INTEGER PRIMARY KEY AUTOINCREMENT
);

CREATE TABLE secret (
    name        TEXT PRIMARY KEY,
    value       BLOB NOT NULL
) WITHOUT ROWID;
