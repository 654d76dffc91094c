-- Working blocks come along in every digest: the bit beside the pin's in `pinned` (rows.ALONG). Before, one was imported
-- at most; each change of one writes its row anew.

UPDATE memory SET pinned = pinned | 2 WHERE kind = 'working';
