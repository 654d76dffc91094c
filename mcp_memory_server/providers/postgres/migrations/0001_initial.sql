-- Instants are text in the canonical UTC form, so that they compare in time order; every text compares by its bytes.
-- `scope_id` is a hash of a scope's name (names.py). Every table leads its key with it, so that it can be split by
-- scope, here into partitions or by an engine into shards: no statement joins across scopes, no sequence spans them.
-- `/* by scope */` stands where the migration puts the partitioning.

CREATE TABLE scope (
    scope_id    uuid PRIMARY KEY,
    token       text COLLATE "C" NOT NULL,
    generation  bigint NOT NULL,                -- +1 in every transaction that changes the scope's records
    last_number bigint NOT NULL,                -- of the record written last; never reused
    marks       bigint[] NOT NULL DEFAULT '{}'  -- of the last transactions that changed it (transaction.py)
) /* by scope */;

CREATE TABLE memory (
    scope_id    uuid NOT NULL,
    number      bigint NOT NULL,                -- microseconds since 1970 at the first writing, or one more than the last
    id          text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    text        text COLLATE "C" NOT NULL,
    created_at  text COLLATE "C",
    updated_at  text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    pinned      smallint NOT NULL,              -- rows.PINNED, rows.ALONG
    status      text COLLATE "C" NOT NULL,
    details     text COLLATE "C" NOT NULL,      -- JSON: the record's other fields, defaults left out

    -- What lists and searches are narrowed by, out of the rest (columns.py).
    lane        text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    owner       text COLLATE "C" NOT NULL,
    sensitivity text COLLATE "C" NOT NULL,
    begins      text COLLATE "C",
    valid_to    text COLLATE "C",
    archived_at text COLLATE "C",
    thread      text COLLATE "C" NOT NULL,
    tags        text[] COLLATE "C" NOT NULL,

    PRIMARY KEY (scope_id, number),
    UNIQUE (scope_id, key, lane),
    UNIQUE (id, scope_id)
) /* by scope */;
CREATE INDEX memory_newest ON memory (scope_id, status, updated_at DESC, key);
CREATE INDEX memory_pinned ON memory (scope_id, key) WHERE pinned <> 0;
CREATE INDEX memory_apart ON memory (scope_id, key) WHERE lane <> '';
CREATE INDEX memory_conditional ON memory (scope_id)
WHERE begins IS NOT NULL OR valid_to IS NOT NULL OR archived_at IS NOT NULL OR sensitivity = 'secret'
   OR kind = 'session';

-- Replaced versions as they were when current. Closing them is a matter of reading.
CREATE TABLE history (
    scope_id    uuid NOT NULL,
    id          text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    key         text COLLATE "C" NOT NULL,
    text        text COLLATE "C" NOT NULL,
    created_at  text COLLATE "C",
    updated_at  text COLLATE "C" NOT NULL,
    pinned      smallint NOT NULL,
    status      text COLLATE "C" NOT NULL,
    details     text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope_id, id, version)
) /* by scope */;

-- One row a searchable memory: what ranking reads, without any text.
CREATE TABLE signature (
    scope_id    uuid NOT NULL,
    number      bigint NOT NULL,
    generation  bigint NOT NULL,                -- the scope's, when this row was written
    key         text COLLATE "C" NOT NULL,
    thread      text COLLATE "C" NOT NULL,
    time_ms     bigint NOT NULL,
    lexical     bytea NOT NULL,
    embedder    text COLLATE "C",               -- whose vectors these are; NULL while there are none
    pooled      bytea,
    PRIMARY KEY (scope_id, number)
) /* by scope */;
CREATE INDEX signature_changed ON signature (scope_id, generation);
-- Whoever embeds looks in all scopes for records that have no vectors of an embedder.
CREATE INDEX signature_embedder ON signature (embedder, scope_id);

-- Token vectors for late interaction, of the embedder named in the signature. Read for the best records only.
CREATE TABLE token (
    scope_id    uuid NOT NULL,
    number      bigint NOT NULL,
    vectors     bytea NOT NULL,
    PRIMARY KEY (scope_id, number)
) /* by scope */;

-- Numbers that left the signatures of a scope, for caches that are a few generations behind.
CREATE TABLE removal (
    scope_id    uuid NOT NULL,
    generation  bigint NOT NULL,
    number      bigint NOT NULL,
    PRIMARY KEY (scope_id, generation, number)
) /* by scope */;

-- What the triples of records are about (providers/base/entities.py). Names are erased with the last version that
-- holds them; the ledger of merges has ids alone, which may dangle.
CREATE TABLE entity (
    scope_id    uuid NOT NULL,
    id          text COLLATE "C" NOT NULL,
    folded      text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope_id, id),
    UNIQUE (scope_id, folded)
) /* by scope */;

-- A version, current or in history, that names an entity, and how it spells it.
CREATE TABLE mention (
    scope_id    uuid NOT NULL,
    record_id   text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    role        text COLLATE "C" NOT NULL,      -- subject or object
    entity      text COLLATE "C" NOT NULL,
    spelling    text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope_id, record_id, version, role)
) /* by scope */;
CREATE INDEX mention_entity ON mention (scope_id, entity);

CREATE TABLE merge (
    scope_id    uuid NOT NULL,
    id          text COLLATE "C" NOT NULL,      -- rises with time
    source      text COLLATE "C" NOT NULL,
    target      text COLLATE "C" NOT NULL,
    merged_by   text COLLATE "C" NOT NULL,
    merged_at   text COLLATE "C" NOT NULL,
    undone_by   text COLLATE "C",
    undone_at   text COLLATE "C",
    PRIMARY KEY (scope_id, id)
) /* by scope */;
CREATE INDEX merge_source ON merge (scope_id, source);
CREATE INDEX merge_target ON merge (scope_id, target);

-- What stays of a forgotten record.
CREATE TABLE audit (
    scope_id    uuid NOT NULL,
    id          text COLLATE "C" NOT NULL,
    scope       text COLLATE "C" NOT NULL,
    actor_id    text COLLATE "C" NOT NULL,
    at          text COLLATE "C" NOT NULL,
    reason      text COLLATE "C" NOT NULL
) /* by scope */;
CREATE INDEX audit_id ON audit (scope_id, id);

-- Erasures whose bytes may still lie in the files of the scope's tables, or in the log's.
CREATE TABLE erasure (
    scope_id    uuid NOT NULL,
    ticket      uuid NOT NULL,
    rewritten   boolean NOT NULL DEFAULT false, -- the tables hold none any more
    PRIMARY KEY (scope_id, ticket)
) /* by scope */;

-- Of these two `scope_id` stands for an actor (names.place_of_actor): what one was shown belongs to no scope.
CREATE TABLE journal (
    scope_id    uuid NOT NULL,
    digest_id   text COLLATE "C" NOT NULL,
    actor_id    text COLLATE "C" NOT NULL,
    turn_id     text COLLATE "C",
    at          text COLLATE "C" NOT NULL,
    body        text COLLATE "C" NOT NULL,      -- JSON: scopes, counts and references to versions, never text
    PRIMARY KEY (scope_id, digest_id)
) /* by scope */;
CREATE UNIQUE INDEX journal_turn ON journal (scope_id, turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX journal_age ON journal (at);

CREATE TABLE conversation (
    scope_id    uuid NOT NULL,
    id          text COLLATE "C" NOT NULL,
    actor_id    text COLLATE "C" NOT NULL,
    at          text COLLATE "C" NOT NULL,      -- when it was last added to
    scopes      text[] COLLATE "C" NOT NULL,    -- at which it was shown something
    PRIMARY KEY (scope_id, id)
) /* by scope */;
CREATE INDEX conversation_age ON conversation (at);

-- What a conversation was shown, at the record's scope and so erased with it; references alone.
CREATE TABLE surfaced (
    scope_id    uuid NOT NULL,
    actor       uuid NOT NULL,                  -- names.place_of_actor
    conversation text COLLATE "C" NOT NULL,
    record_id   text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (scope_id, actor, conversation, record_id)
) /* by scope */;
CREATE INDEX surfaced_record ON surfaced (scope_id, record_id);

-- Two tables of the store as a whole, without a word of anybody's memory.
CREATE TABLE note (
    name        text COLLATE "C" PRIMARY KEY,
    value       text COLLATE "C" NOT NULL
);

CREATE TABLE secret (
    name        text COLLATE "C" PRIMARY KEY,
    value       bytea NOT NULL
);

-- ANALYZE copies values of columns into the catalogue, where erasing would not reach them: not of those that say something.
ALTER TABLE memory ALTER key SET STATISTICS 0, ALTER text SET STATISTICS 0, ALTER details SET STATISTICS 0,
    ALTER tags SET STATISTICS 0;
ALTER TABLE history ALTER key SET STATISTICS 0, ALTER text SET STATISTICS 0, ALTER details SET STATISTICS 0;
ALTER TABLE signature ALTER key SET STATISTICS 0, ALTER lexical SET STATISTICS 0, ALTER pooled SET STATISTICS 0;
ALTER TABLE token ALTER vectors SET STATISTICS 0;
ALTER TABLE entity ALTER folded SET STATISTICS 0;
ALTER TABLE mention ALTER spelling SET STATISTICS 0;

-- The second wall: a transaction says which scopes it is about, and no statement in it meets a row of another one.
-- A setting of '*' is an operator's act over the whole store. Each of the two functions is one expression, which is put
-- in the place of its call.
CREATE FUNCTION allowed_scopes() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(nullif(current_setting('mcp_memory.scopes', true), ''), '*'), '{}')::uuid[]
$$;

CREATE FUNCTION allows_all() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(current_setting('mcp_memory.scopes', true), '') = '*'
$$;

-- Which generations scopes are at, for caches of their rows: with the setting made by the same statement, which is a
-- transaction of its own, so that it takes one round trip. One lookup a scope, by a plan that is made once and still goes
-- to that scope's partition alone: planning would take three times as long as all the rest.
CREATE FUNCTION generations(places uuid[]) RETURNS TABLE (scope_id uuid, generation bigint)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    place uuid;
BEGIN
    PERFORM set_config('mcp_memory.scopes', places::text, true);
    FOREACH place IN ARRAY places LOOP
        RETURN QUERY SELECT scope.scope_id, scope.generation FROM scope WHERE scope.scope_id = place;
    END LOOP;
END
$$;

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY[
        'scope', 'memory', 'history', 'signature', 'token', 'removal', 'entity', 'mention', 'merge', 'audit', 'erasure',
        'journal', 'conversation', 'surfaced'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', walled);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', walled);
        -- In a subselect each is called once a statement, not once a row.
        EXECUTE format(
            'CREATE POLICY by_scope ON %I USING '
            '(scope_id = ANY ((SELECT allowed_scopes())::uuid[]) OR (SELECT allows_all()))', walled
        );
    END LOOP;
END
$$;
