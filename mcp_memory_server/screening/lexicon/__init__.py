"""The words of many languages, ready to be looked up: which concepts does a text name, and where?

A language is a table from concepts to words (`english.py` and its neighbours). All tables go into one index: an
attacker mixes languages, and a word that means something in two costs a little precision, not a lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from mcp_memory_server.screening.folding import fold, in_run_script

from .concepts import Concept
from .english import WORDS as ENGLISH
from .germanic import DUTCH, GERMAN
from .others import ARABIC, CHINESE, HINDI, JAPANESE, KOREAN, TURKISH
from .romance import FRENCH, ITALIAN, PORTUGUESE, SPANISH
from .slavic import POLISH, RUSSIAN, UKRAINIAN

LANGUAGES: Final[dict[str, Mapping[Concept, str]]] = {
    "en": ENGLISH, "de": GERMAN, "nl": DUTCH, "fr": FRENCH, "es": SPANISH, "it": ITALIAN, "pt": PORTUGUESE,
    "ru": RUSSIAN, "uk": UKRAINIAN, "pl": POLISH, "tr": TURKISH, "ar": ARABIC, "hi": HINDI, "zh": CHINESE,
    "ja": JAPANESE, "ko": KOREAN,
}  # fmt: skip

STEM_HEAD: Final = 3
"""A stem is filed under its first characters; none is shorter."""


@dataclass(frozen=True, slots=True)
class Index:
    """Four ways to look, each by one dictionary access per word or character."""

    whole: Mapping[str, int]
    """By word: its concepts."""
    stems: Mapping[str, tuple[tuple[str, int], ...]]
    """By the first `STEM_HEAD` characters of a word: stems and their concepts."""
    phrases: Mapping[str, tuple[tuple[str, bool, int], ...]]
    """By the first word of a phrase: what follows it, whether that is a stem, and the concepts."""
    runs: Mapping[str, tuple[tuple[str, int], ...]]
    """By two characters, for scripts that do not set words apart: terms and their concepts."""


@cache
def index() -> Index:
    """The one index, built at the first text that is read."""
    whole: dict[str, int] = {}
    stems: dict[str, dict[str, int]] = {}
    phrases: dict[str, dict[tuple[str, bool], int]] = {}
    runs: dict[str, dict[str, int]] = {}
    for term, concept in _terms():
        text, is_stem = term.rstrip("*"), term.endswith("*")
        first, space, rest = text.partition(" ")
        if in_run_script(text):
            _add(runs.setdefault(text[:2], {}), text, concept)
        elif space:
            _add(phrases.setdefault(first, {}), (space + rest, is_stem), concept)
        elif is_stem:
            _add(stems.setdefault(text[:STEM_HEAD], {}), text, concept)
        else:
            _add(whole, text, concept)
    return Index(
        whole,
        {head: tuple(found.items()) for head, found in stems.items()},
        {head: tuple((rest, stem, bits) for (rest, stem), bits in found.items()) for head, found in phrases.items()},
        {head: tuple(found.items()) for head, found in runs.items()},
    )


def _terms() -> Iterator[tuple[str, int]]:
    for table in LANGUAGES.values():
        for concept, words in table.items():
            for word in words.split():
                spaced = fold(word.replace("_", " ").removesuffix("*")).words
                # A blank at the end is part of a term: لا is a word, and a piece of many others.
                yield spaced + (word[-1] if word[-1] == "*" else " " * word.endswith("_")), concept.value


def _add(table: dict[Any, int], key: Any, bits: int) -> None:
    table[key] = table.get(key, 0) | bits
