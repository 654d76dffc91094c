"""A record's signature: everything the ranking needs to know of it, computed once for each version.

Words are kept as hashes, so a signature can be stored and cached without holding the text; equal words have
equal hashes in every process. Layout, little-endian:

    version u8 | subject terms u8 | word count u16 | terms u16 | trigrams u16
    subject terms u32[] | terms u32[] | trigrams u16[] | term frequencies u8[]
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .languages import DEFAULT_LANGUAGE
from .normalise import composed, fold
from .text import LONGEST_KEPT, MAX_TEXT_CHARS, Forms, forms_of_text, kept_for, spellings, words_of_text
from .words import apart

SIGNATURE_VERSION: Final = 1
"""Raised whenever the same record would get another signature: stores then encode their records again."""

_HEADER: Final = struct.Struct("<BBHHH")
_MOST: Final = 0xFFFF
_MOST_SUBJECT_TERMS: Final = 8
_FACTORS: Final = (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F)
_TRIGRAM_FACTORS: Final = [np.uint32(factor) for factor in _FACTORS]
# Up to so many characters the trigrams are hashed one by one: most of them are known.
_SHORT: Final = 500
_UPPER_HALF: Final = np.uint32(16)


class SignatureParts(NamedTuple):
    """A signature taken apart: the bytes of its columns."""

    word_count: int
    subjects: bytes
    """uint32, as are `terms`."""
    terms: bytes
    trigrams: bytes
    """uint16."""
    frequencies: bytes
    """One byte for each term."""


def encode_signature(
    *, key: str, text: str, tags: Sequence[str] = (), subject: str | None = None, language: str | None = None
) -> bytes:
    """The signature of a record. `subject` is whom or what it is about, or who said it.

    Key, tags and subject count as text: a question may name any of them. `language` is that of the text
    (a Snowball name); it is detected when not given.
    """
    passage = _passage(key, text, tags, subject)
    word_count = 0
    frequencies: dict[int, int] = {}
    words, known = words_of_text(passage, language)
    indexed = kept_for(words, _indexed)
    for word in words:
        is_counted, terms = indexed(word, known)
        word_count += is_counted
        for term in terms:
            frequencies[term] = frequencies.get(term, 0) + 1
    about = [hash_forms(forms)[0] for forms in _subject_words(subject)]
    grams = trigram_hashes(passage)[:_MOST]
    kept, counts = list(frequencies)[:_MOST], list(frequencies.values())[:_MOST]
    if max(counts, default=0) > 255:
        counts = [min(count, 255) for count in counts]
    return b"".join(
        (
            _HEADER.pack(SIGNATURE_VERSION, len(about), min(word_count, _MOST), len(kept), len(grams)),
            struct.pack(f"<{len(about) + len(kept)}I", *about, *kept),
            grams.astype("<u2", copy=False).tobytes(),
            bytes(counts),
        )
    )


def signature_parts(signature: bytes) -> SignatureParts:
    """Take a signature apart; ValueError for one of another version."""
    version, subjects, word_count, terms, trigrams = _HEADER.unpack_from(signature)
    if version != SIGNATURE_VERSION:
        raise ValueError(f"signature version {version} is not {SIGNATURE_VERSION}; encode the record again")
    at_terms = _HEADER.size + 4 * subjects
    at_trigrams = at_terms + 4 * terms
    at_frequencies = at_trigrams + 2 * trigrams
    return SignatureParts(
        word_count,
        signature[_HEADER.size : at_terms],
        signature[at_terms:at_trigrams],
        signature[at_trigrams:at_frequencies],
        signature[at_frequencies : at_frequencies + terms],
    )


def hash_term(term: str) -> int:
    """A 32-bit hash, the same in every process."""
    return crc32(term.encode())


def hash_forms(forms: Forms) -> tuple[int, ...]:
    """The hashes of one word's forms."""
    return _hashes(forms) if not forms or len(forms[0]) <= LONGEST_KEPT else _hashes.__wrapped__(forms)


@lru_cache(maxsize=16_384)
def _hashes(forms: Forms) -> tuple[int, ...]:
    return tuple(map(hash_term, forms))


@lru_cache(maxsize=4_096)
def _indexed(word: str, language: str) -> tuple[bool, tuple[int, ...]]:
    """Whether it is a word at all, and no symbol; and the hashes of its forms."""
    forms = spellings(word, language)
    return forms[0][:1].isalnum(), tuple(map(hash_term, forms))


def trigram_hashes(text: str) -> NDArray[np.uint16]:
    """The distinct character trigrams of a text's words as 16-bit hashes, ascending.

    Words are folded and stand between single spaces, so that a trigram also tells a word's start and end.
    """
    padded = f" {' '.join(_apart(text))} "
    if len(padded) < 3:
        return np.zeros(0, dtype=np.uint16)
    points = np.frombuffer(padded.encode("utf-32-le"), dtype="<u4")
    first, second, third, mixing = _TRIGRAM_FACTORS
    mixed = (points[:-2] * first ^ points[1:-1] * second ^ points[2:] * third) * mixing
    hashes = (mixed >> _UPPER_HALF).astype(np.uint16)
    hashes.sort()
    distinct = np.empty(len(hashes), dtype=np.bool_)
    distinct[0] = True
    np.not_equal(hashes[1:], hashes[:-1], out=distinct[1:])
    return hashes[distinct]


def asked_trigrams(text: str) -> list[int]:
    """`trigram_hashes` as numbers in any order: quicker for a question, whose words mostly occurred in others."""
    if len(text) > _SHORT:
        return trigram_hashes(text).tolist()
    words = _apart(text)
    over_gaps = [_hash_trigram(f"{word[-1]} {after[0]}") for word, after in pairwise(words)]
    return list(set(over_gaps).union(*map(kept_for(words, _trigrams_of_word), words)))


@lru_cache(maxsize=4_096)
def _trigrams_of_word(word: str) -> tuple[int, ...]:
    """The hashes of the trigrams of a word that stands between spaces."""
    padded = f" {word} "
    return tuple(_hash_trigram(padded[start : start + 3]) for start in range(len(word)))


@lru_cache(maxsize=4_096)
def _hash_trigram(trigram: str) -> int:
    first, second, third, mixing = _FACTORS
    points = ord(trigram[0]) * first ^ ord(trigram[1]) * second ^ ord(trigram[2]) * third
    return (points * mixing & 0xFFFFFFFF) >> 16


def _apart(text: str) -> list[str]:
    return apart(fold(composed(text[:MAX_TEXT_CHARS]))[:MAX_TEXT_CHARS])


def _passage(key: str, text: str, tags: Sequence[str], subject: str | None) -> str:
    named = text if subject is None or fold(subject) in fold(text) else f"{subject}: {text}"
    return "\n".join(part for part in (key, named, *tags) if part)


def _subject_words(subject: str | None) -> list[Forms]:
    """The words of a name, which no language inflects for us."""
    return list(dict.fromkeys(forms_of_text(subject, DEFAULT_LANGUAGE)))[:_MOST_SUBJECT_TERMS] if subject else []
