"""Keys that look like the same question, so that one fact is not scattered over several keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_ALIKE: Final = 0.88
# Below this a single letter is too much of a key: `cat` and `car` are two questions.
_SHORTEST_FUZZY: Final = 6


def same_question(one: str, other: str) -> bool:
    """Whether two different keys look like names of one question: `time-zone`, `Timezone` and `zone_time`.

    Numbers must be equal: `goal-q1` and `goal-q2` are two questions.
    """
    if _DIGITS.findall(one) != _DIGITS.findall(other):
        return False
    words, other_words = _words(one), _words(other)
    if sorted(words) == sorted(other_words):
        return True
    joined, other_joined = "".join(words), "".join(other_words)
    if joined == other_joined:
        return True
    if min(len(joined), len(other_joined)) < _SHORTEST_FUZZY:
        return False
    return SequenceMatcher(None, joined, other_joined, autojunk=False).ratio() >= _ALIKE


def similar_keys(key: str, others: Iterable[str], limit: int = 5) -> list[str]:
    """Those of `others`, without doubles and without `key` itself, that look like the same question."""
    return [other for other in dict.fromkeys(others) if other != key and same_question(key, other)][:limit]


def _words(key: str) -> list[str]:
    """The words of a key, folded, camelCase taken apart, a plural's s dropped."""
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key)
    decomposed = unicodedata.normalize("NFKD", spread.casefold())
    folded = "".join(char for char in decomposed if not unicodedata.combining(char))
    return [word.removesuffix("s") if len(word) > 3 else word for word in _WORD.findall(folded)]
