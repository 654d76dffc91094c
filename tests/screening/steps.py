"""Counts what a reading does, so that its growth can be told without a clock."""

import sys
from collections.abc import Callable
from types import FrameType


def steps(read: Callable[[str], object], text: str) -> int:
    """Calls of functions, ours and built in, that one reading takes: the same on every machine."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(text)
    finally:
        sys.setprofile(before)
    return count
