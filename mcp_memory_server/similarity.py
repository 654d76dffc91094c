"""Keys that look like the same question, and texts that say the same: one fact is not to be scattered over several."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, TypeVar

K = TypeVar("K")
T = TypeVar("T")

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_ALIKE: Final = 0.88
# Below this a single letter is too much of a key: `cat` and `car` are two questions.
_SHORTEST_FUZZY: Final = 6
# Two texts say nearly the same when they share this part of all their words, and there are enough of these to tell.
_SHARED: Final = (4, 5)
_FEWEST_WORDS: Final = 4
# What comparing two keys letter by letter costs, where looking one up costs 1.
_COMPARISON: Final = 20


def same_question(one: str, other: str) -> bool:
    """Whether two different keys look like names of one question: `time-zone`, `Timezone` and `zone_time`.

    Numbers must be equal: `goal-q1` and `goal-q2` are two questions.
    """
    if _DIGITS.findall(one) != _DIGITS.findall(other):
        return False
    words, other_words = _words(one), _words(other)
    if not (words and other_words):
        return False
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


@dataclass(slots=True)
class Steps:
    """What a comparison of many with many may cost at most. Once nothing is `left`, the rest was not compared."""

    left: int = 5_000_000

    def spend(self, steps: int) -> bool:
        """Whether there was something left to spend."""
        self.left = max(self.left - steps, 0)
        return self.left > 0


def alike_keys(keys: Iterable[str], steps: Steps) -> Iterator[tuple[str, str]]:
    """Every pair of different keys that look like the same question (`same_question`), as far as the steps go.

    Keys that are that much alike share three letters in a row, so only those that do are compared.
    """
    sharing: defaultdict[tuple[tuple[str, ...], str], list[str]] = defaultdict(list)
    for key in dict.fromkeys(keys):
        places = [(tuple(_DIGITS.findall(key)), part) for part in _parts(key)]
        for other in _met(sharing, places, steps):
            if not steps.spend(_COMPARISON):
                return
            if same_question(other, key):
                yield other, key
        for place in places:
            sharing[place].append(key)


def _met(sharing: Mapping[K, Sequence[T]], places: Iterable[K], steps: Steps) -> Iterable[T]:
    """What shares one of the places, once each."""
    met: dict[T, None] = {}
    for place in places:
        others = sharing.get(place, ())
        if others and not steps.spend(len(others)):
            break
        met.update(dict.fromkeys(others))
    return met


def _parts(key: str) -> set[str]:
    """What a key shares with every key that looks like the same question: all of it, or three letters in a row."""
    words = _words(key)
    joined = "".join(words)
    whole = {joined, " ".join(sorted(words))}
    if len(joined) < _SHORTEST_FUZZY:
        return whole
    return whole | {joined[start : start + 3] for start in range(len(joined) - 2)}


def alike_texts(words: Sequence[Collection[str]], steps: Steps) -> Iterator[tuple[int, int]]:
    """Every pair of places whose texts have nearly the same words, in whatever order, as far as the steps go.

    Texts of a few words are alike only when they have the same ones, and numbers must be equal.

    Args:
        words: of each text, folded or stemmed; repeats do not count.
    """
    rarity = Counter(word for text in words for word in set(text))
    sharing: defaultdict[str, list[int]] = defaultdict(list)
    sets = [frozenset(text) for text in words]
    for place, text in enumerate(sets):
        by_rarity = sorted(text, key=lambda word: (rarity[word], word))
        # Of two that share enough, each has one of the shared ones among its rarest few.
        telling = by_rarity[: len(text) - _least_shared(len(text)) + 1]
        for other in _met(sharing, telling, steps):
            if not steps.spend(1):
                return
            if _nearly_the_same(sets[other], text):
                yield other, place
        for word in telling:
            sharing[word].append(place)


def _least_shared(size: int) -> int:
    """How many words of a text of that many are shared at least with one that is nearly the same."""
    part, of = _SHARED
    return -(-size * part // of)


def _nearly_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    if one == other:
        return bool(one)
    if min(len(one), len(other)) < _FEWEST_WORDS or any(map(_DIGITS.search, one ^ other)):
        return False
    return len(one & other) >= _least_shared(len(one | other))


def groups_of(pairs: Iterable[tuple[T, T]]) -> list[list[T]]:
    """What pairs link together, in the order in which each was first named."""
    group_of: dict[T, list[T]] = {}
    for one, other in pairs:
        first, second = group_of.setdefault(one, [one]), group_of.setdefault(other, [other])
        if first is not second:
            first.extend(second)
            group_of.update(dict.fromkeys(second, first))
    return list({id(group): group for group in group_of.values()}.values())


def _words(key: str) -> list[str]:
    """The words of a key, folded, camelCase taken apart, a plural's s dropped."""
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key)
    decomposed = unicodedata.normalize("NFKD", spread.casefold())
    folded = "".join(char for char in decomposed if not unicodedata.combining(char))
    return [word.removesuffix("s") if len(word) > 3 else word for word in _WORD.findall(folded)]
