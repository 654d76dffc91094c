"""Does a text read like an instruction to the model?

A note is data, yet a model may obey what it reads in one. The text is read as it came, then without each disguise
that shows; in each reading the marks of chat templates and the rules over concepts are looked for. All of it is
bounded by the length of the text, and nothing is learnt, fetched or remembered.
"""

from __future__ import annotations

import re
from typing import Final

from .disguises import undisguised
from .findings import EVIDENCE_CHARS, MAX_TEXT_CHARS, Suspicion
from .folding import fold
from .hidden import INVISIBLE, find_hidden
from .hits import find_concepts
from .lexicon.concepts import Concept
from .markup import find_mark
from .rules import match_rule

_DEPTH: Final = 2
"""How many disguises may lie over one another."""

_QUOTED: Final = re.compile('["“„«‟「『][^"”“»」』\n]{1,60}["”»」』]')
_QUOTED_WORDS: Final = 6


def read_instruction(text: str) -> Suspicion | None:
    """Why the text should wait for a person's review, or None for an ordinary memory. Takes any string.

    It is for the text as it came: what writing a note removes is part of what is looked for.
    """
    text = text[:MAX_TEXT_CHARS]
    if (kind := find_hidden(text)) is not None:
        return Suspicion("invisible-text", kind)
    return _read(text, _DEPTH)


def _read(text: str, depth: int) -> Suspicion | None:
    visible = text if text.isascii() else INVISIBLE.sub("", text)
    if (mark := find_mark(visible)) is not None:
        return Suspicion(mark.reason, mark.name)
    folded = fold(visible)
    hits = find_concepts(folded)
    if (found := match_rule(hits)) is not None and not _is_mention(visible):
        return found
    if depth:
        for disguise, plain in undisguised(text, hits.words):
            if (found := _read(plain, depth - 1)) is not None:
                return Suspicion("encoded-instruction", f"{disguise}: {found.evidence}"[:EVIDENCE_CHARS])
    return None


def _is_mention(text: str) -> bool:
    """Whether the words are only quoted, as a title is: few of them, spoken about, and nothing else to obey."""
    quotes = _QUOTED.findall(text)
    if not quotes or any(len(quote.split()) > _QUOTED_WORDS for quote in quotes):
        return False
    rest = find_concepts(fold(_QUOTED.sub(" ", text)))
    return bool(rest.bits & Concept.MENTION.value) and match_rule(rest) is None
