"""Where the words of a text are: identifiers, paths, scripts without spaces, symbols.

A word comes out whole and in its parts, so that `HttpHeader` and `header` both find `parseHttpHeader`.
Scripts written without spaces have no words to split at; their runs come out as n-grams.
"""

import re
from collections.abc import Iterator
from typing import Final

from .stop_words import UNSPACED_STOP_PHRASES

# Blocks of scripts written without spaces. Han and kana (and Hangul, whose words carry particles) are read
# by character; in the South-East Asian scripts a character alone means little, so they are read in longer
# pieces, counted in base characters with their vowel and tone signs.
_IDEOGRAPHIC: Final = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003134f"
)
_HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
_SOUTH_EAST_ASIAN: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uaa60-\uaa7f"
_UNSPACED: Final = _IDEOGRAPHIC + _HANGUL + _SOUTH_EAST_ASIAN

# `\w` leaves out combining marks, which would break Hindi or Tamil words at each vowel sign.
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0f00-\u0fbc"
_LETTERS: Final = f"(?:(?![{_UNSPACED}_])[\\w{_MARKS}])+"
_JOINER: Final = r"[-_./\\:@'’&+~]{1,2}"

_ASCII_TOKEN: Final = re.compile(rf"[A-Za-z0-9]+(?:{_JOINER}[A-Za-z0-9]+)*(?:\+\+|#)?|[^\sA-Za-z0-9]")
_TOKEN: Final = re.compile(
    rf"(?P<ideographic>[{_IDEOGRAPHIC}]+)|(?P<hangul>[{_HANGUL}]+)|(?P<sea>[{_SOUTH_EAST_ASIAN}]+)"
    rf"|(?P<word>{_LETTERS}(?:{_JOINER}{_LETTERS})*(?:\+\+|#)?)|(?P<symbol>[^\s])"
)
_BETWEEN: Final = re.compile(rf"(?:[^\w{_MARKS}{_SOUTH_EAST_ASIAN}]|_)+")
_ASCII_BETWEEN: Final = str.maketrans({char: " " for char in map(chr, range(128)) if not char.isalnum()})
_SPLIT: Final = re.compile(r"[-_./\\:@'’&+~#]+")
_CAMEL: Final = re.compile(
    r"(?<=[a-zß-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
    r"|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_CONTRACTED: Final = frozenset({"s", "m", "d", "ll", "ve", "re"})
_SIGN: Final = re.compile(
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3]"
)
_STOP_PHRASE: Final = re.compile("|".join(map(re.escape, UNSPACED_STOP_PHRASES)))

# A path of more parts is not looked for as one word.
_MOST_PARTS: Final = 8


def written_words(text: str) -> Iterator[str]:
    """Every form under which something in this text can be looked for, case kept, in order of appearance.

    `text` is expected composed (`normalise.composed`). Symbols come out one by one.
    """
    for kind, token in _tokens(text):
        if kind == "symbol" or (kind == "word" and _is_plain(token)):
            yield token
        elif kind == "word":
            yield from _word_forms(token)
        else:
            yield from _ngrams(kind, token)


def asked_words(text: str) -> list[str]:
    """What to look for, given a question: of an n-gram script only the longest pieces, no symbols but emoji.

    Symbols come out when there is nothing else, so that `:-)` can be found too.
    """
    words: list[str] = []
    symbols: list[str] = []
    for kind, token in _tokens(text):
        if kind == "word":
            words.extend([token] if _is_plain(token) else _word_forms(token))
        elif kind == "symbol":
            (words if ord(token) >= 0x2600 and not 0x3000 <= ord(token) <= 0x303F else symbols).append(token)
        else:
            for run in _without_stop_phrases(token):
                words.extend(_asked_ngrams(kind, run))
    return words or symbols


def apart(text: str) -> list[str]:
    """What stands between anything that is no part of a word."""
    if text.isascii():
        return text.translate(_ASCII_BETWEEN).split()
    return [word for word in _BETWEEN.split(text) if word]


def _tokens(text: str) -> list[tuple[str, str]]:
    if text.isascii():
        return [("word" if token[0].isalnum() else "symbol", token) for token in _ASCII_TOKEN.findall(text)]
    return [(match.lastgroup or "symbol", match.group()) for match in _TOKEN.finditer(text)]


def _is_plain(token: str) -> bool:
    """Whether a word has no parts."""
    return token.isalpha() and (token.islower() or token[1:].islower())


def _word_forms(token: str) -> Iterator[str]:
    """The parts of a word that has any as written, and the whole without its joiners."""
    suffix = token[len(token.rstrip("+#")) :]
    parts = [part for part in _SPLIT.split(token) if part]
    if "'" in token or "’" in token:
        if len(parts) > 1 and parts[-1].lower() in _CONTRACTED:
            parts.pop()
        elif len(parts) == 2 and len(parts[1]) == 1:
            parts = ["".join(parts)]
    pieces = [piece for part in parts for piece in _camel_pieces(part)]
    yield from (piece for piece in pieces if len(pieces) == 1 or len(piece) > 1 or piece.isdigit())
    if len(parts) > 1 and len(pieces) > len(parts):
        yield from (part for part in parts if len(_CAMEL.split(part)) > 1)
    if len(pieces) > 1 and len(parts) <= _MOST_PARTS:
        yield "".join(parts)
    if suffix:
        yield parts[-1] + suffix


def _camel_pieces(part: str) -> list[str]:
    if part.islower() and part.isalpha():
        return [part]
    return [piece for piece in _CAMEL.split(part) if piece]


def _units(kind: str, run: str) -> list[str]:
    """The characters of a run, each with the vowel and tone signs that belong to it."""
    if kind != "sea":
        return list(run)
    units: list[str] = []
    for character in run:
        if units and _SIGN.match(character):
            units[-1] += character
        else:
            units.append(character)
    return units


def _windows(units: list[str], size: int) -> Iterator[str]:
    return ("".join(units[start : start + size]) for start in range(len(units) - size + 1))


def _ngrams(kind: str, run: str) -> Iterator[str]:
    units = _units(kind, run)
    yield from units
    yield from _windows(units, 2)
    if kind == "sea":
        yield from _windows(units, 3)


def _asked_ngrams(kind: str, run: str) -> Iterator[str]:
    units = _units(kind, run)
    return _windows(units, min(len(units), 3 if kind == "sea" else 2))


def _without_stop_phrases(run: str) -> list[str]:
    """The run cut at what asks rather than names; the run itself when nothing else is in it."""
    return [piece for piece in _STOP_PHRASE.split(run) if piece] or [run]
