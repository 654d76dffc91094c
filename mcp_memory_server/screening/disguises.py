"""The other texts that one text may be read as: decoded, spelt right, turned round.

Each disguise is tried only where something of it shows, so an ordinary fact is read once.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final
from urllib.parse import unquote

from .lexicon import LANGUAGES
from .lexicon.concepts import Concept

_ZERO_WIDTH: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]+")
_BLOB: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BITS: Final = re.compile(r"[01]{8}(?: [01]{8}){7,}|[01]{64,}")
_ESCAPES: Final = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2}))")
_LEET: Final = re.compile(r"[a-z][013457@$!|]{1,3}[a-z]", re.IGNORECASE)
_LEET_LETTERS: Final = tuple(str.maketrans("034571@$!|", f"oeast{one}as{mark}l") for one, mark in ("ii", "li"))
_SPACED: Final = re.compile(r"(?:[^\W\d_][ ._*-]{1,3}){7}[^\W\d_]")
_GAP: Final = re.compile(r"[ ._*-]")
_MIXED: Final = re.compile("[a-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-z]", re.IGNORECASE)
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіѕјһԁԛԝѵкмтнвαονρτυικεχАЕОРСУХІЅЈҺКМТНВΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxisjhdqwvkmthbaovptuikexAEOPCYXISJHKMTHBABEZHIKMNOPTYX",
)  # fmt: skip

_MIN_READABLE: Final = 8
_MIN_LETTERS: Final = 5


def undisguised(text: str, words: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a disguise and the text without it, for each that shows; `words` are the folded words of the text."""
    if not text.isascii():
        if _ZERO_WIDTH.search(text):
            yield "zero-width characters as blanks", _ZERO_WIDTH.sub(" ", text)
        if _MIXED.search(text):
            yield "look-alike letters", text.translate(_LOOKALIKES)
    yield from _decoded(text)
    if len(_LEET.findall(text)) >= 3:
        yield from (("digits for letters", text.translate(letters)) for letters in _LEET_LETTERS)
    if sum(len(word) == 1 for word in words) >= _MIN_LETTERS and _SPACED.search(text):
        yield "spaced-out letters", _closed_up(text)
    if len(words & _rotated_words()) >= 2:
        yield "rot13", codecs.decode(text, "rot13")
    if len(words & _reversed_words()) >= 2:
        yield "reversed text", text[::-1]


def _decoded(text: str) -> Iterator[tuple[str, str]]:
    if text.count("%") >= 4 and (plain := unquote(text)) != text:
        yield "percent encoding", plain
    if "&" in text and (plain := html.unescape(text)) != text:
        yield "HTML entities", plain
    if "\\" in text and (plain := _ESCAPES.sub(_character, text)) != text:
        yield "escaped characters", plain
    for found in _BLOB.findall(text):
        for name, decode in (("hexadecimal", bytes.fromhex), ("base64", _base64)):
            if (plain := _readable(decode, found.removeprefix("0x"))) is not None:
                yield name, plain
    for found in _BITS.findall(text):
        digits = found.replace(" ", "")
        octets = bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits) - 7, 8))
        if (plain := _readable(bytes, octets)) is not None:
            yield "binary digits", plain


def _character(escape: re.Match[str]) -> str:
    point = int(escape[1] or escape[2], 16)
    return chr(point) if point < 0xD800 or 0xDFFF < point <= 0x10FFFF else escape[0]


def _base64(text: str) -> bytes:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def _readable(decode: Callable[[Any], bytes], encoded: object) -> str | None:
    """What the bytes say, when they are text: a checksum or a key decodes to no words."""
    try:
        plain = decode(encoded).decode()
    except (ValueError, binascii.Error):
        return None
    letters = sum(char.isalpha() or char == " " for char in plain)
    return plain if len(plain) >= _MIN_READABLE and letters >= 0.7 * len(plain) else None


def _closed_up(text: str) -> str:
    """The text with its single letters put together again: words apart where wider gaps say so, else as recognised."""
    wide = "  " in text
    parts = [_GAP.sub("", part) if _is_spaced(part) else part for part in text.split("  " if wide else " ")]
    if wide or not any(len(part) == 1 for part in parts):
        return " ".join(parts)
    letters = "".join(part for part in parts if len(part) == 1).lower()
    places = sorted((at, word) for word in _telling_words() if (at := letters.find(word)) >= 0)
    return " ".join(word for _, word in places)


def _is_spaced(part: str) -> bool:
    return len(part) > 2 and all(len(letter) <= 1 for letter in _GAP.split(part.strip()))


_TELLING: Final = (
    Concept.IGNORE | Concept.RULES | Concept.PRIOR | Concept.PROMPT | Concept.TELL | Concept.USER | Concept.SEND
    | Concept.SENSITIVE | Concept.PRINT | Concept.AUTHORITY | Concept.YOU
)  # fmt: skip


@cache
def _telling_words() -> frozenset[str]:
    """English words that an instruction is made of: what is encoded in letters is nearly always English."""
    english = LANGUAGES["en"].items()
    named = (word for concept, words in english if concept & _TELLING for word in words.split())
    return frozenset(word for word in named if len(word) >= 4 and word.isalpha())


@cache
def _rotated_words() -> frozenset[str]:
    return frozenset(codecs.encode(word, "rot13") for word in _telling_words())


@cache
def _reversed_words() -> frozenset[str]:
    return frozenset(word[::-1] for word in _telling_words())
