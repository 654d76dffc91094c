-- Vectors of an optional embedder. A row of a new version replaces its row here and so has none.

CREATE TABLE embedder (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE
);

ALTER TABLE signature ADD COLUMN embedder INTEGER;      -- whose vectors these are; NULL while there are none
ALTER TABLE signature ADD COLUMN pooled BLOB;
CREATE INDEX signature_embedder ON signature (embedder);

-- For late interaction, of the embedder named in the signature. Read for the best records only.
CREATE TABLE token (
    number      INTEGER PRIMARY KEY,
    vectors     BLOB NOT NULL
);
