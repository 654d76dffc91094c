"""One spelling for each letter, so that capitals, accents and ornament do not hide a word.

The form is the detector's own: search folds to find a fact again, this folds to see through disguise.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

_MARKS: Final = re.compile("[\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0670\u0640]")
_PLAIN: Final = str.maketrans({
    "ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه",
})  # fmt: skip
_JOINTS: Final = str.maketrans(dict.fromkeys("-_'`/‐‑–‘’ʼʹ´", " "))
"""What joins the parts of a word: `e-mail`, `send_email`, `l'utilisateur`."""
_RUN_SCRIPTS: Final = re.compile("[\u0590-\u08ff\u0900-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


class Folded(NamedTuple):
    """A text in one case and spelling, twice at the same positions."""

    line: str
    """With its punctuation, except commas: a phrase goes on over them."""
    words: str
    """With blanks for what joins the parts of a word."""


def fold(text: str) -> Folded:
    """Fold a text that holds nothing invisible. Any string has a result; blanks are single."""
    line = text.lower() if text.isascii() else _fold_unicode(text)
    line = line.replace(",", "")
    line = "\n".join(" ".join(part.split()) for part in line.splitlines()) if "\n" in line else " ".join(line.split())
    return Folded(line, line.translate(_JOINTS))


def _fold_unicode(text: str) -> str:
    # Composing first turns full-width, circled and mathematical letters into plain ones.
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed).translate(_PLAIN))


def in_run_script(text: str) -> bool:
    """Whether words are looked for anywhere in the text: it is in a script that prefixes, suffixes or joins them."""
    return _RUN_SCRIPTS.search(text) is not None


def runs(text: str) -> list[tuple[int, int]]:
    """The stretches of the text in such scripts, from and to."""
    return [found.span() for found in _RUN_SCRIPTS.finditer(text)]
