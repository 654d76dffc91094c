"""Which language a text is in, and the stems of its words.

The language is told from the script and from counted stop words. A short fact often has none, so a stem is
never the only form of a word (see `text.forms`): a wrong guess costs a little, it never hides a fact.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, Final

from .irregular import IRREGULAR_ENGLISH
from .normalise import fold
from .stop_words import STOP_WORDS

DEFAULT_LANGUAGE: Final = "english"

_BY_SCRIPT: Final = (
    (re.compile("[\u0400-\u04ff]"), ("russian", "ukrainian")),
    (re.compile("[\u0370-\u03ff]"), ("greek",)),
    (re.compile("[\u0590-\u05ff]"), ("hebrew",)),
    (re.compile("[\u0600-\u06ff]"), ("arabic", "persian")),
    (re.compile("[\u0900-\u097f]"), ("hindi",)),
    (re.compile("[\u0b80-\u0bff]"), ("tamil",)),
    (re.compile("[\u0530-\u058f]"), ("armenian",)),
)
_OTHER_SCRIPTS: Final = frozenset(language for _, languages in _BY_SCRIPT for language in languages)
# In the order of the lists: the more widely written language wins a tie.
_LATIN: Final = tuple(language for language in STOP_WORDS if language not in _OTHER_SCRIPTS)


def known_languages() -> list[str]:
    """The languages that a setting may name: those with a stemmer, and those with stop words alone."""
    return sorted({*STOP_WORDS, *_algorithms()} - {"porter", "dutch_porter"})


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words to leave out of a question in this language, folded; none for a language without a list."""
    return frozenset(fold(word) for word in STOP_WORDS.get(language, ()))


@cache
def _languages_of_stop_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for language in STOP_WORDS:
        for word in stop_words(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


def detect_language(text: str, folded_words: Iterable[str], default: str = DEFAULT_LANGUAGE) -> str:
    """The language of a text, by its script and then by its stop words; `default` where nothing tells."""
    candidates: tuple[str, ...] = ()
    if not text.isascii():
        candidates = next((languages for script, languages in _BY_SCRIPT if script.search(text)), ())
    if len(candidates) == 1:
        return candidates[0]
    known = _languages_of_stop_word()
    told = [languages for word in folded_words if (languages := known.get(word))]
    if not candidates and all(default in languages for languages in told):
        return default  # as nearly always: no other language can have more votes
    votes = Counter(chain.from_iterable(told))
    if candidates:
        return max(candidates, key=lambda language: (votes.get(language, 0), language == candidates[0]))
    best = max((count for language, count in votes.items() if language in _LATIN), default=0)
    if votes.get(default, 0) == best:
        return default
    return next(language for language in _LATIN if votes.get(language) == best)


def stem(word: str, language: str) -> str:
    """The folded stem of a case-folded word that still has its diacritics; the word where there is no rule."""
    if language == "english":
        word = IRREGULAR_ENGLISH.get(word, word)
    stemmer = _stemmer(language)
    return fold(stemmer(word)) if stemmer else fold(word)


@cache
def _stemmer(language: str) -> Callable[[str], str] | None:
    if language not in _algorithms():
        return None
    stemmer = _snowball().stemmer(language)
    # PyStemmer, where it is there, keeps ten thousand words of each language, however long: see `text.LONGEST_KEPT`.
    stemmer.maxCacheSize = 0
    return stemmer.stemWord


def _algorithms() -> list[str]:
    return _snowball().algorithms()


def _snowball() -> Any:
    # The stemmers are loaded at the first word, not with the server; they ship no types.
    return import_module("snowballstemmer")
