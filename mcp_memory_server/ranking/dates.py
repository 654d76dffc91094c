"""Dates a question names, and how near to one of them a memory was written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .normalise import fold

_MONTHS: Final = (
    "january jan januar janvier enero gennaio janeiro januari января січня",
    "february feb februar fevrier febrero febbraio fevereiro februari февраля лютого",
    "march mar marz mars marzo marco maart марта березня",
    "april apr avril abril aprile апреля квітня",
    "may mai mayo maggio maio mei maj мая травня",
    "june jun juni juin junio giugno junho июня червня",
    "july jul juli juillet julio luglio julho июля липня",
    "august aug aout agosto augustus augusti августа серпня",
    "september sept sep septembre septiembre settembre setembro сентября вересня",
    "october oct oktober okt octobre octubre ottobre outubro октября жовтня",
    "november nov novembre noviembre novembro ноября листопада",
    "december dec dezember dez decembre diciembre dicembre dezembro december декабря грудня",
)
_MONTH_NUMBERS: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
# These are everyday words too, so they need a number or a word of time beside them.
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "mars", "dec", "sep", "jan", "mai", "mei", "maj", "nov", "marco"})

_NAME: Final = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|\.|º)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_LINK: Final = r"\s*,?\s*(?:of\s+|de\s+|del\s+)?"
# Most questions name no date: one search tells, the sooner as most words do not even begin as a hint does.
_HINTS: Final = rf"{_NAME}|today|yesterday|last|this|heute|gestern|letzten?|hoy|ayer|pasad[ao]|hier|aujourd'hui|ago"
_HINT: Final = re.compile(
    rf"\d|\b(?=[{''.join(sorted({hint[0] for hint in _HINTS.split('|')}))}])(?:{_HINTS})\b"
    r"|сегодня|вчера|[今昨先上本月]|오늘|어제|지난"
)
_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<month>[01]?\d)(?:[-/.](?P<day>[0-3]?\d))?\b",
        rf"\b(?P<day>[0-3]?\d)\.\s?(?P<month>[01]?\d)\.\s?{_YEAR}\b",
        rf"{_YEAR}\s?[年년]\s?(?P<month>[01]?\d)\s?[月월](?:\s?(?P<day>[0-3]?\d)\s?[日일])?",
        r"(?<!\d)(?P<month>[01]?\d)\s?[月월]\s?(?P<day>[0-3]?\d)\s?[日일]",
        rf"\b{_DAY}{_LINK}(?P<name>{_NAME})\b\.?(?:{_LINK}{_YEAR}\b)?",
        rf"\b(?P<name>{_NAME})\b\.?{_LINK}{_DAY}\b(?!\d)(?:{_LINK}{_YEAR}\b)?",
        rf"\b(?P<name>{_NAME})\b\.?{_LINK}{_YEAR}\b",
        rf"\b(?P<before>in|on|of|since|by|during|last|this|until|early|late|mid|im|en|em)[\s-]+(?P<name>{_NAME})\b",
        rf"\b(?P<name>{_NAME})\b",
        rf"\b{_YEAR}\b",
    )
)
_RELATIVE: Final = (
    (re.compile(r"\btoday\b|\bheute\b|\bhoy\b|\baujourd'hui\b|сегодня|今天|今日|오늘"), (0, 0)),
    (re.compile(r"\byesterday\b|\bgestern\b|\bayer\b|\bhier\b|вчера|昨天|昨日|어제"), (1, 1)),
    (re.compile(r"\blast week\b|\bletzte woche\b|\bsemana pasada\b|上周|先週|지난주"), (3, 11)),
    (re.compile(r"\blast month\b|\bletzten monat\b|\bmes pasado\b|上个月|先月|지난달"), (15, 50)),
    (re.compile(r"\bthis week\b|\bdiese woche\b|本周|今週"), (0, 6)),
)
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_AGO: Final = re.compile(rf"\b(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})\s(?P<unit>day|week|month)s?\sago\b")
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30}

_MS_PER_DAY: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """Days a question names, as days since 1970 in UTC, both included.

    Without a year the span stands for the same days of every year.
    """

    first_day: int
    last_day: int
    yearly: bool = False


def named_times(query: str, now: datetime) -> list[NamedTime]:
    """The dates, months, years and spans before `now` that a question names; each place is read once."""
    text = fold(query[:2000])
    found: list[NamedTime] = []
    if not _HINT.search(text):
        return found
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            time = _time_of(match)
            if time is not None:
                found.append(time)
                text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    return found + _relative_times(text, (now.date() - _EPOCH).days)


def nearness(times: Sequence[NamedTime], times_ms: NDArray[np.int64]) -> NDArray[np.float32]:
    """For each memory 0 to 1: how near to the nearest named time it was written.

    People tell of an event after it happened, so nearness falls slowly after a day and fast before it.
    """
    days = times_ms / _MS_PER_DAY
    best = np.zeros(len(days), dtype=np.float32)
    for span in _all_years(times, days):
        whole_day = span.first_day == span.last_day
        after = np.maximum(days - span.last_day - 1, 0)
        before = np.maximum(span.first_day - days, 0)
        fall_after, fall_before = (14, 4) if whole_day else (15, 15)
        near = np.exp(-after / fall_after - before / fall_before)
        best = np.maximum(best, near.astype(np.float32))
    return best


def _time_of(match: re.Match[str]) -> NamedTime | None:
    parts = match.groupdict()
    name = parts.get("name")
    if name in _AMBIGUOUS and not (parts.get("day") or parts.get("year") or parts.get("before")):
        return None
    year = int(parts["year"]) if parts.get("year") else None
    month = _MONTH_NUMBERS[name] if name else int(parts.get("month") or 0)
    day = int(parts.get("day") or 0)
    try:
        if not month:
            return _span(date(year or 1970, 1, 1), date(year or 1970, 12, 31))
        # 1972 has a 29 February.
        first = date(year or 1972, month, day or 1)
        last = first if day else (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    except ValueError:
        return None
    return _span(first, last, yearly=year is None)


def _span(first: date, last: date, *, yearly: bool = False) -> NamedTime:
    return NamedTime((first - _EPOCH).days, (last - _EPOCH).days, yearly)


def _relative_times(text: str, today: int) -> list[NamedTime]:
    found = [NamedTime(today - far, today - near) for words, (near, far) in _RELATIVE if words.search(text)]
    for match in _AGO.finditer(text):
        count = match["count"]
        middle = (int(count) if count.isdigit() else _COUNTS[count]) * _UNIT_DAYS[match["unit"]]
        slack = _UNIT_DAYS[match["unit"]] // 2
        found.append(NamedTime(today - middle - slack, today - middle + slack))
    return found


def _all_years(times: Sequence[NamedTime], days: NDArray[np.float64]) -> list[NamedTime]:
    if not len(days):
        return []
    spans = [time for time in times if not time.yearly]
    yearly = [time for time in times if time.yearly]
    if yearly:
        first, last = (int((day - 730) // 365.25) for day in (days.min(), days.max()))
        for time, year in product(yearly, range(max(first - 1, -60), min(last + 2, 130))):
            spans.append(NamedTime(_in_year(time.first_day, year), _in_year(time.last_day, year)))
    return spans


def _in_year(day: int, year: int) -> int:
    """The same day of the year so many years later; 28 February for the 29th where there is none."""
    told = _EPOCH + timedelta(days=day)
    if (told.month, told.day) == (2, 29):
        told = told.replace(day=28)
    return (told.replace(year=told.year + year) - _EPOCH).days
