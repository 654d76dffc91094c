-- The few records that a plain read may have to leave out: `shown.Conditions` says when.
CREATE INDEX memory_conditional ON memory (scope_id)
WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL OR started_at IS NOT NULL OR archived_at IS NOT NULL
   OR sensitivity = 'secret' OR kind = 'session';

-- What the store tells about itself by name, such as when it was last maintained.
CREATE TABLE note (
    name        TEXT PRIMARY KEY,
    value       TEXT NOT NULL
) WITHOUT ROWID;
