"""How old a note is, in words: models weigh "3 weeks ago" far better than a flag that says "old"."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

_DAYS_OF_A_WEEK: Final = 7
_DAYS_OF_A_MONTH: Final = 30


def format_age(delta: timedelta) -> str:
    """The age `delta` in words, floored; a month counts 30 days.

    Under a day, and for anything in the future: `today`. Then `yesterday` (1 to 2 days), `N days ago` (2 to 7),
    `N weeks ago` (7 to 30 days) and `N months ago`, singular where N is 1.
    """
    days = delta.days
    if days < 1:
        return "today"
    if days < 2:
        return "yesterday"
    if days < _DAYS_OF_A_WEEK:
        return f"{days} days ago"
    if days < _DAYS_OF_A_MONTH:
        return _ago(days // _DAYS_OF_A_WEEK, "week")
    return _ago(days // _DAYS_OF_A_MONTH, "month")


def _ago(count: int, unit: str) -> str:
    return f"{count} {unit if count == 1 else f'{unit}s'} ago"
