"""A clock that a test sets."""

from dataclasses import dataclass


@dataclass(slots=True)
class Clock:
    """`now` of a service; `day` sets it to the noon of a day of 2026, UTC."""

    now: str = "2026-01-01T12:00:00.000Z"

    def __call__(self) -> str:
        return self.now

    def day(self, month: int, day: int) -> None:
        self.now = f"2026-{month:02}-{day:02}T12:00:00.000Z"
