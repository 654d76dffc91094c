-- What the triples of records are about (providers/base/entities.py). Names are erased with the last version that
-- holds them; the ledger of merges has ids alone, which may dangle.

CREATE TABLE entity (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    scope_id    INTEGER NOT NULL,
    folded      TEXT NOT NULL,
    UNIQUE (scope_id, folded)
);

-- A version, current or in history, that names an entity, and how it spells it.
CREATE TABLE mention (
    record_id   TEXT NOT NULL,
    version     INTEGER NOT NULL,
    role        TEXT NOT NULL,                  -- subject or object
    entity      INTEGER NOT NULL,
    spelling    TEXT NOT NULL,
    PRIMARY KEY (record_id, version, role)
) WITHOUT ROWID;
CREATE INDEX mention_entity ON mention (entity);

CREATE TABLE merge (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    scope_id    INTEGER NOT NULL,
    source      TEXT NOT NULL,
    target      TEXT NOT NULL,
    merged_by   TEXT NOT NULL,
    merged_at   TEXT NOT NULL,
    undone_by   TEXT,
    undone_at   TEXT
);
CREATE INDEX merge_scope ON merge (scope_id);
CREATE INDEX merge_source ON merge (source);
CREATE INDEX merge_target ON merge (target);

-- Triples that the store holds already. `fold_name` is the function of providers/entity_names.py.
CREATE TEMP TABLE named AS
WITH version AS (
    SELECT memory.id, memory.scope_id, memory.version, memory.status, memory.details FROM memory
    UNION ALL
    SELECT history.id, memory.scope_id, history.version, history.status, history.details
    FROM history JOIN memory ON memory.id = history.id
)
SELECT version.id AS record_id, scope_id, version, role.value AS role,
    details ->> ('$.' || role.value) AS spelling, fold_name(details ->> ('$.' || role.value)) AS folded
FROM version, json_each('["subject", "object"]') AS role
WHERE status = 'active' AND details ->> ('$.' || role.value) IS NOT NULL
  AND coalesce(details ->> '$.extraction', '') <> 'skip';

INSERT INTO entity (id, scope_id, folded)
SELECT lower(hex(randomblob(16))), scope_id, folded FROM named WHERE folded <> '' GROUP BY scope_id, folded;

INSERT INTO mention (record_id, version, role, entity, spelling)
SELECT record_id, version, role, entity.number, spelling
FROM named JOIN entity ON entity.scope_id = named.scope_id AND entity.folded = named.folded;

DROP TABLE named;
