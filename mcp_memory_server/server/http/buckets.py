"""How many requests each caller may still send: token buckets, as values."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import ceil
from typing import Final

_MOST_CALLERS: Final = 10_000
"""How many callers are kept apart. The one who was quiet for longest is forgotten first, and starts anew."""


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class Buckets:
    """One bucket a caller: it holds `capacity` requests, and fills up again at `per_second`."""

    def __init__(self, capacity: int, per_second: float) -> None:
        self._capacity = capacity
        self._per_second = per_second
        self._by_caller: OrderedDict[str, _Bucket] = OrderedDict()

    @classmethod
    def per_minute(cls, requests: int) -> Buckets:
        """So many requests a minute, of which a sixth may come at once: 10 seconds' worth."""
        return cls(max(1, requests // 6), requests / 60)

    def take(self, caller: str, now: float) -> int:
        """Take one request out of a caller's bucket: 0, or the whole seconds after which there is one in it again.

        `now` is in seconds of any clock that does not go back.
        """
        bucket = self._by_caller.pop(caller, None) or _Bucket(self._capacity, now)
        self._by_caller[caller] = bucket
        if len(self._by_caller) > _MOST_CALLERS:
            self._by_caller.popitem(last=False)
        bucket.level = min(self._capacity, bucket.level + (now - bucket.at) * self._per_second)
        bucket.at = now
        if bucket.level >= 1:
            bucket.level -= 1
            return 0
        return max(1, ceil((1 - bucket.level) / self._per_second))
