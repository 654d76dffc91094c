"""From a text to the terms it is indexed and looked for under.

Nothing here needs numpy, and any string is a legal text: a query is never parsed as a language of its own.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from .languages import DEFAULT_LANGUAGE, detect_language, stem, stop_words
from .normalise import composed, fold
from .words import asked_words, written_words

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper  # pyright: ignore[reportPrivateUsage]

T = TypeVar("T")

# Characters of a text that are read at all. A fact has hundreds; these bounds keep a hostile megabyte from
# holding the writer, and a pasted page from holding a recall.
MAX_TEXT_CHARS: Final = 100_000
MAX_QUERY_CHARS: Final = 10_000
MAX_QUERY_WORDS: Final = 200

LONGEST_KEPT: Final = 64
"""Characters of a word that caches keep: thousands of hostile ones would have them hold gigabytes."""

Forms: TypeAlias = tuple[str, ...]
"""The spellings one word is indexed under: as written (folded), and its stem where that differs."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """A question reduced to what is looked for: `words` holds one `Forms` for each distinct word."""

    language: str
    clear: str
    """The question, composed and cut to `MAX_QUERY_CHARS`."""
    words: tuple[Forms, ...]
    folded: tuple[str, ...]
    """All distinct words, stop words included, folded."""


def forms_of_text(text: str, language: str | None = None) -> Iterator[Forms]:
    """The forms of each word of a text, repeats and stop words included, in order."""
    words, known = words_of_text(text, language)
    forms_of = kept_for(words, _forms)
    return (forms_of(word, known) for word in words)


def words_of_text(text: str, language: str | None = None) -> tuple[list[str], str]:
    """The words of a text as they are written, and the language of their forms."""
    clear = composed(text[:MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]
    words = list(written_words(clear))
    # What `fold` does to ASCII is done at once: most words of a new text may be new.
    folded = map(str.lower if clear.isascii() else kept_for(words, _folded), words)
    return words, language or detect_language(clear, folded)


def read_query(text: str, language: str | None = None) -> QueryText:
    """What a question looks for: distinct words without stop words, or all of them if it has no others."""
    return _read_query(text[:MAX_QUERY_CHARS], language)


# The last one is kept: records are ranked by a question, and then the answer is explained by it.
@lru_cache(maxsize=1)
def _read_query(text: str, language: str | None) -> QueryText:
    clear = composed(text)[:MAX_QUERY_CHARS]
    words = asked_words(clear)
    folded = list(map(str.lower if clear.isascii() else kept_for(words, _folded), words))
    known = language or detect_language(clear, folded)
    stops = stop_words(known)
    telling = [word for word, form in zip(words, folded, strict=True) if form not in stops]
    forms_of = kept_for(words, _forms)
    distinct = dict.fromkeys([forms_of(word, known) for word in telling or words])
    return QueryText(known, clear, tuple(distinct)[:MAX_QUERY_WORDS], tuple(dict.fromkeys(folded)))


def terms(text: str, language: str | None = None, *, query: bool = False) -> list[str]:
    """The terms of a text in order, repeats included; of a query, without its stop words."""
    found = read_query(text, language).words if query else forms_of_text(text, language)
    return [form for forms in found for form in forms]


def forms_of_word(word: str, language: str = DEFAULT_LANGUAGE) -> Forms:
    """The forms of one word by itself."""
    clear = composed(word)
    return kept_for((clear,), _forms)(clear, language)


def kept_for(words: Collection[str], make: "_lru_cache_wrapper[T]") -> Callable[..., T]:
    """`make`, which keeps what it made of a word; where one of the words is too long for that, without its cache."""
    return make if max(map(len, words), default=0) <= LONGEST_KEPT else make.__wrapped__


@lru_cache(maxsize=16_384)
def _folded(word: str) -> str:
    return fold(word)


@lru_cache(maxsize=16_384)
def _forms(word: str, language: str) -> Forms:
    return spellings(word, language)


def spellings(word: str, language: str) -> Forms:
    """The forms of a word of a text that was composed."""
    written = fold(word)
    stemmed = stem(word.casefold(), language)
    return (written,) if stemmed == written or not stemmed else (written, stemmed)
