-- What a conversation was shown (providers/base/surfacing.py): references alone, erased with their records.

CREATE TABLE conversation (
    number      INTEGER PRIMARY KEY,
    actor_id    TEXT NOT NULL,
    id          TEXT NOT NULL,
    at          TEXT NOT NULL,                  -- when it was last added to
    UNIQUE (actor_id, id)
);
CREATE INDEX conversation_age ON conversation (at);

CREATE TABLE surfaced (
    conversation INTEGER NOT NULL,
    record_id    TEXT NOT NULL,
    version      INTEGER NOT NULL,
    PRIMARY KEY (conversation, record_id)
) WITHOUT ROWID;
CREATE INDEX surfaced_record ON surfaced (record_id);
