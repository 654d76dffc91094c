"""One spelling for each word: compatibility forms, case and diacritics are folded away."""

import re
import unicodedata
from typing import Final

# Marks that a reader may leave out: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs.
# Kana voicing and the vowel signs of the Indic and Thai scripts make another word, so they stay.
_OPTIONAL_MARKS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]")

# Zero-width joiners and direction marks are invisible, so they never tell two words apart; a lone surrogate is
# no character at all and could not be hashed.
_INVISIBLE: Final = re.compile("[\ud800-\udfff\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

# Letters with a stroke or a ligature do not decompose; each maps to its usual plain spelling.
_PLAIN: Final = str.maketrans(
    {
        "ı": "i",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ħ": "h",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ð": "d",
        "ى": "ي",
        "ی": "ي",
        "ک": "ك",
        "ة": "ه",
    }
)


def composed(text: str) -> str:
    """Compatibility-composed text without invisible characters; case is kept, for identifiers need it."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def fold(text: str) -> str:
    """The form in which words are compared: `Straße`, `STRASSE` and `strasse` are one."""
    if text.isascii():
        return text.lower()
    # Composing once before folding case makes the result the same for every spelling of the input, and a
    # second pass changes nothing: İ folds to i with a dot above, which is then an optional mark.
    decomposed = unicodedata.normalize("NFD", composed(text).casefold())
    plain = _OPTIONAL_MARKS.sub("", decomposed).translate(_PLAIN)
    return unicodedata.normalize("NFKC", plain)
