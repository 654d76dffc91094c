"""Which versions of which records a list or a search is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar, get_args

from mcp_memory_server.errors import InvalidInput, Problem, echo
from mcp_memory_server.records import KINDS, OWNERS, Kind, Owner, Sensitivity, canonical_instant, normal_tags

T = TypeVar("T")

SENSITIVITIES: Final[tuple[Sensitivity, ...]] = get_args(Sensitivity)
"""From what anybody may see to what few may."""

_CLOCKS: Final = ("at", "as_of", "known_at", "since", "until")


def instant(argument: str, value: object) -> str:
    """The instant that an argument names, as it is stored.

    Raises:
        InvalidInput: it is none, or has no zone.
    """
    try:
        return canonical_instant(value)
    except ValueError as error:
        raise InvalidInput.of(argument, str(error)) from None


def _check_known(name: str, values: Collection[T], known: Collection[T], problems: list[Problem]) -> None:
    for value in values:
        if value not in known:
            known_ones = ", ".join(map(str, known))
            problems.append(Problem(name, f"has {echo(value)}, which there is not; there are {known_ones}"))


@dataclass(frozen=True, slots=True)
class Filter:
    """What is left out before anything is ranked, limited or counted. The default leaves out what is set aside.

    Time. By default the current version of each record answers; with `at` only where it holds then. `as_of` asks
    what was true then and `known_at` what was believed then, `as_of` that same moment unless it says otherwise:
    of each record the version answers that `timeline.version_at` names, as it was when current. Both make `at`
    without meaning. `include_superseded` asks for every version there is, closed as history shows it, whether or
    not it holds; with `as_of` it has no meaning.

    Content. `since` and `until` bound when the version was written (`since` included, `until` not); `tags` must all
    be there; `kinds` and `owners` name those that count, none meaning all, and an absent owner counts as `user`.

    Who may see it. `max_sensitivity` is a ceiling; `min_sensitivity` asks for what lies above one. With `own_thread`
    records of the kind `session` count in the thread `thread_id` only. Archived and quarantined ones count when they
    are asked for; a record is archived from its `archived_at` on, so that a question about an earlier moment finds it.
    An old version is shown to nobody whom the current one is kept from: not where that one lies above the ceiling, nor
    where it is quarantined.

    Raises:
        InvalidInput: naming each wrong field: an instant that is none or has no zone, `until` before `since`, a kind,
            owner or sensitivity that there is not. Any offset is taken, and stored as UTC.
    """

    at: str | None = None
    as_of: str | None = None
    known_at: str | None = None
    since: str | None = None
    until: str | None = None
    tags: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    owners: tuple[Owner, ...] = ()
    max_sensitivity: Sensitivity | None = None
    min_sensitivity: Sensitivity | None = None
    thread_id: str | None = None
    own_thread: bool = False
    include_superseded: bool = False
    include_quarantined: bool = False
    include_archived: bool = False

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        for name in _CLOCKS:
            if (value := getattr(self, name)) is not None:
                self._replace(name, partial(instant, name, value), problems)
        if self.tags:
            self._replace("tags", partial(normal_tags, self.tags), problems)
        _check_known("kinds", self.kinds, KINDS, problems)
        _check_known("owners", self.owners, OWNERS, problems)
        for name in ("max_sensitivity", "min_sensitivity"):
            if (value := getattr(self, name)) is not None:
                _check_known(name, (value,), SENSITIVITIES, problems)
        if not problems and self.since is not None and self.until is not None and self.until < self.since:
            problems.append(Problem("until", f"({self.until}) is before since ({self.since}); swap or drop one"))
        if problems:
            raise InvalidInput(*problems)

    def _replace(self, name: str, normal: Callable[[], object], problems: list[Problem]) -> None:
        try:
            object.__setattr__(self, name, normal())
        except InvalidInput as error:
            problems.extend(error.problems)

    @property
    def is_historic(self) -> bool:
        """Whether versions that were replaced may answer."""
        return self.as_of is not None or self.known_at is not None or self.include_superseded

    @property
    def is_narrow(self) -> bool:
        """Whether it asks for a part of the current records, rather than leaving a few of them out."""
        return (
            bool(self.tags or self.kinds or self.owners)
            or self.since is not None
            or self.until is not None
            or self.min_sensitivity is not None
            or self.max_sensitivity == "public"
            or self.include_quarantined
        )

    @property
    def ceiling(self) -> Sequence[Sensitivity]:
        """The sensitivities up to `max_sensitivity`."""
        most = self.max_sensitivity
        return SENSITIVITIES if most is None else SENSITIVITIES[: SENSITIVITIES.index(most) + 1]

    @property
    def sensitivities(self) -> Sequence[Sensitivity]:
        """Those between the two bounds."""
        least = self.min_sensitivity
        return self.ceiling if least is None else self.ceiling[SENSITIVITIES.index(least) :]


SET_ASIDE_TOO: Final = Filter(include_quarantined=True, include_archived=True)
"""Every current record: for whoever looks after the store, not for what a model is shown."""

UNFILTERED: Final = Filter()
"""The default: current records that are not set aside."""
