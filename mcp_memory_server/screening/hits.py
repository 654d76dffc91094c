"""Where a text names which concept: by its words, and by the shape of addresses, commands and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from .folding import Folded, runs
from .lexicon import STEM_HEAD, Index, index
from .lexicon.concepts import Concept

_WORD: Final = re.compile(r"[^\W\d_]+")
_PLACE: Final = re.compile(
    r"\b[a-z]{2,6}://|\bwww\.|[\w+]@[\w-]+\.[a-z]|\b\d{1,3}\.\d{1,3}\.\d"
    r"|[a-z0-9]\.(?:com|net|org|io|dev|app|ru|cn|info|example)\b"
)
_FETCH: Final = re.compile(r"\b(?:curl|wget) ")
_INTO_SHELL: Final = re.compile(r"\| ?(?:sudo )?(?:ba|z|da)?sh\b")
_SHELL: Final = re.compile(r"\brm -rf? [~/*]|\| ?nc [\w.]|\bpowershell -e")
_LABEL: Final = re.compile(
    r"(?:^|[.!?\n\[] ?)\W{0,3}(?:(?:note|message|notice) from (?:the )?(?:system|admin|administrator|developers?)|"
    r"(?:admin|administrator|developer|root) (?:message|notice|note|override|alert|command)|"
    r"(?:system|override|systemhinweis|systemnachricht|systeembericht|systeem|"
    r"(?:note|message|mensaje del|messaggio di|mensagem do) s[iy]stem[ae]?|systeme|sistema|"
    r"системное сообщение|система|системне повідомлення|komunikat systemowy|sistem mesaji|النظام|رساله النظام|"
    r"सिस्टम|系统|系統|系统消息|系统提示|システム|システムメッセージ|시스템|시스템 메시지)"
    r"(?: (?:message|notice|note|override|prompt|alert|instruction|update))?)"
    r"(?: to (?:the )?(?:model|assistant))? ?[:：\]]"
)
_INVOCATION: Final = re.compile(
    r"\b(?:call|invoke|llama|appelle|rufe|chiama|chame|вызови|wywolaj|调用|呼び出)"
    r"(?: the)?(?: tool| function)? ?[`'\"]?(?:http_(?:get|post)|(?:\w{1,20}_)?"
    r"(?:delete|remove|erase|send|post|transfer|pay|purchase|forget|upload|exec|wire|drop)_\w)"
)
_BREAK: Final = re.compile(r"[.!?][\"”»)]{0,2} |[。！？।؟\n]")

_MAY_SEND: Final = (Concept.SEND | Concept.RUN | Concept.OBEY).value
_MAY_RUN: Final = (Concept.CALL | Concept.RUN).value


class Hit(NamedTuple):
    """Concepts named at one place of a folded text."""

    at: int
    bits: int


@dataclass(frozen=True, slots=True)
class Hits:
    """All that a text names, in order."""

    line: str
    words: frozenset[str]
    found: tuple[Hit, ...]
    bits: int
    """The concepts of all hits together."""

    def sentences(self) -> list[list[Hit]]:
        """The hits, sentence by sentence."""
        ends = [found.end() for found in _BREAK.finditer(self.line)]
        parts: list[list[Hit]] = [[]]
        place = 0
        for hit in self.found:
            while place < len(ends) and hit.at >= ends[place]:
                place += 1
                parts.append([])
            parts[-1].append(hit)
        return [part for part in parts if part]


def find_concepts(text: Folded) -> Hits:
    """Look every word up once, and every shape where the words around it make it worth the while."""
    table = index()
    words, found = _find_words(text.words, table)
    if not text.words.isascii():
        found += _find_runs(text.words, table)
    bits = _union(found)
    if shapes := _find_shapes(text.line, bits):
        found += shapes
        bits |= _union(shapes)
    found.sort()
    return Hits(text.line, words, tuple(found), bits)


def _union(found: list[Hit]) -> int:
    bits = 0
    for hit in found:
        bits |= hit.bits
    return bits


def _find_words(text: str, table: Index) -> tuple[frozenset[str], list[Hit]]:
    whole, stems, phrases = table.whole, table.stems, table.phrases
    words: set[str] = set()
    found: list[Hit] = []
    for match in _WORD.finditer(text):
        word = match[0]
        words.add(word)
        bits = whole.get(word, 0)
        for stem, meant in stems.get(word[:STEM_HEAD], ()):
            if word.startswith(stem):
                bits |= meant
        for rest, is_stem, meant in phrases.get(word, ()):
            end = match.end() + len(rest)
            if text.startswith(rest, match.end()) and (is_stem or not text[end : end + 1].isalpha()):
                bits |= meant
        if bits:
            found.append(Hit(match.start(), bits))
    return frozenset(words), found


def _find_runs(text: str, table: Index) -> list[Hit]:
    found: list[Hit] = []
    for start, end in runs(text):
        for at in range(start, end):
            for term, bits in table.runs.get(text[at : at + 2], ()):
                if text.startswith(term, at):
                    found.append(Hit(at, bits))
    return found


def _find_shapes(line: str, bits: int) -> list[Hit]:
    found: list[Hit] = []
    if bits & _MAY_SEND:
        found += [Hit(match.start(), Concept.PLACE.value) for match in _PLACE.finditer(line)]
    if bits & _MAY_RUN:
        found += [Hit(match.start(), Concept.SHELL.value) for match in _SHELL.finditer(line)]
        if _FETCH.search(line):
            found += [Hit(match.start(), Concept.SHELL.value) for match in _INTO_SHELL.finditer(line)]
    if "_" in line:
        found += [Hit(match.start(), Concept.INVOCATION.value) for match in _INVOCATION.finditer(line)]
    if ":" in line or "]" in line or "：" in line:
        # A heading belongs to what follows it, so it stands where it ends.
        found += [Hit(match.end() - 1, Concept.LABEL.value) for match in _LABEL.finditer(line)]
    return found
