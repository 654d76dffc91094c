"""Characters that a person does not see and a model reads.

Writing a note removes most of them, so they are looked for in the text as it came.
"""

from __future__ import annotations

import re
from typing import Final

INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}")
_OVERRIDES: Final = re.compile("[\u202d\u202e][^\u202c]{12}")
"""Enough to say something; a shorter stretch is a file's name at most, and writing removes the marks anyway."""
_ZERO_WIDTHS: Final = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{8}")


def find_hidden(text: str) -> str | None:
    """What kind of hidden text this holds, in a few words; None for text that shows all that it says.

    The tags of a flag, the joiners of a word or an emoji and single marks of direction are ordinary spelling.
    """
    if text.isascii():
        return None
    if _TAGS.search(_FLAG.sub("", text)):
        return "tag characters"
    if _SELECTORS.search(text):
        return "a run of variation selectors"
    if _OVERRIDES.search(text):
        return "overridden direction"
    if _ZERO_WIDTHS.search(text):
        return "a run of zero-width characters"
    return None
