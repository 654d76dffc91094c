"""What a model is told before it reads recalled notes."""

from typing import Final

RECALL_CAVEAT: Final = """\
## These notes are of a point in time
Each says what was known when it was written; its age stands under it. It may have changed since without anybody \
noticing.

## Before you act on a memory
1. It names a file, a function, a flag, a setting or an address: look whether that is still there.
2. It gives a number, a date, a version or a state: that was the value of its day; look up today's.
3. It tells what a person wants: what they say now outranks it; say that the note is out of date.
4. You are about to do what cannot be undone: check the note first, or ask."""
"""Two titled sections, not one paragraph: that notes drift, and, at the moment of decision, what to check.

In the published evaluation behind this form, claims verified before acting rose from 0 of 2 to 3 of 3 once ages were
spelled out and the second heading named the moment and concrete checks.
"""
