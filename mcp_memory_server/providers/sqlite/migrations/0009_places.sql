-- Who asks for an id is answered from what stands at their own scopes, or in their own journal. An id of others is not
-- found, and then turned away: it is never come across, so that not even the time of the answer tells of it.
CREATE UNIQUE INDEX memory_place ON memory (scope_id, id);
CREATE UNIQUE INDEX journal_owner ON journal (actor_id, digest_id);
