"""Random patterns and subjects for the differential tests."""

from __future__ import annotations

import random

ECMA_PIECES = (
    "a", "b", "0", "1", "8", "9", "k", "u", "x", "c", "-", "^", "$", "\\", "\\", "(", "(?:", "(?=", "(?!", "(?<=",
    "(?<!", "(?<n>", "(?<a>", "\\k<n>", ")", ")", "[", "[^", "]", "{", "}", "{1}", "{2,1}", "{1,}", ",", "*", "+", "?",
    "|", "/", ".", "\\u{61}", "\\u0061", "\\x41", "\\cA", "\\ud83d\\udc4d", "\U0001f44d", "\ud83d", "{L}", "\\p{Lu}",
    "<", ">", "=", "!", "_", "\\b", "\\B", "\\0", "\u00e9", " ", "\n", "\\1", "\\2", "\\10", "(?<\\u0061b>", "-z",
)  # fmt: skip
PYTHON_PIECES = (
    "a", "b", "0", "1", "8", "9", "k", "-", "^", "$", "\\", "\\", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?P<n>",
    "(?P<a>", "(?P=n)", "(?(1)", "(?(n)", "(?>", "(?i)", "(?x)", "(?s-i:", "(?#", ")", ")", "[", "[^", "]", "{", "}",
    "{1}", "{2,1}", "{1,}", "{,3}", ",", "*", "+", "?", "|", ".", "\\u0061", "\\x41", "\\U0001F600", "\\N{EM DASH}",
    "\u00e9", "<", ">", "=", "_", "\\b", "\\B", "\\0", "\\A", "\\Z", "#", "\n", " ", "\\1", "\\10", "\\400", "-z",
    "[]", "(?a:", "(?L)", "(?u)", "*+", "??",
)  # fmt: skip
_ATOMS = ("a", "b", "c", "[ab]", "[^a]", ".", "\\w", "\\s", "aa", "ab", "")
_QUANTIFIERS = ("", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}")


def glued(pieces: tuple[str, ...], seed: int, count: int) -> list[str]:
    """Texts of a few pieces each; many are no patterns, which is the point."""
    chance = random.Random(seed)
    return ["".join(chance.choice(pieces) for _ in range(chance.randint(1, 8))) for _ in range(count)]


def regular(seed: int, count: int, extras: tuple[str, ...] = ()) -> list[str]:
    """Valid patterns that both dialects understand alike."""
    chance = random.Random(seed)
    return [_choice(chance, 3, extras) for _ in range(count)]


def _choice(chance: random.Random, depth: int, extras: tuple[str, ...]) -> str:
    branches = [_sequence(chance, depth, extras) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    return "|".join(branches)


def _sequence(chance: random.Random, depth: int, extras: tuple[str, ...]) -> str:
    return "".join(_term(chance, depth, extras) for _ in range(chance.randint(1, 3)))


def _term(chance: random.Random, depth: int, extras: tuple[str, ...]) -> str:
    if extras and chance.random() < 0.2:
        return chance.choice(extras)
    if depth and chance.random() < 0.4:
        return f"({_choice(chance, depth - 1, extras)}){chance.choice(_QUANTIFIERS)}"
    atom = chance.choice(_ATOMS)
    return f"(?:{atom}){chance.choice(_QUANTIFIERS)}"


def subjects(seed: int, count: int) -> list[str]:
    """Short strings over the letters that the patterns speak of."""
    chance = random.Random(seed)
    return ["".join(chance.choice("aabbc \n_") for _ in range(chance.randint(0, 9))) for _ in range(count)]
