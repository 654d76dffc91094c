"""Which version of a record answers, as pure functions of its versions and two instants."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.providers.base import Filter
from mcp_memory_server.providers.contract.samples import minute, raw_record
from mcp_memory_server.providers.shown import Conditions
from mcp_memory_server.providers.timeline import answers, begins, holds_at, version_at
from mcp_memory_server.records import Episode, MemoryOrigin, MemoryRecord

LYON = raw_record("id", "home", "Lyon", at=10)
PORTO = raw_record("id", "home", "Porto", at=20, version=2)

minutes = st.integers(0, 40)
bounds = st.one_of(st.none(), minutes.map(minute))


@st.composite
def histories(draw: st.DrawFn) -> tuple[MemoryRecord, ...]:
    """The versions of one record, as writes leave them: each later than the one before."""
    written = sorted(draw(st.sets(minutes, min_size=1, max_size=5)))
    versions: list[MemoryRecord] = []
    for number, at in enumerate(written, start=1):
        valid_from, valid_to = draw(bounds), draw(bounds)
        if valid_from is not None and valid_to is not None and valid_to < valid_from:
            valid_from, valid_to = valid_to, valid_from
        times: dict[str, Any] = {"valid_from": valid_from, "valid_to": valid_to}
        versions.append(raw_record("id", "home", f"v{number}", at=at, version=number, **times))
    return tuple(versions)


def texts(versions: Sequence[MemoryRecord]) -> list[str]:
    return [version.text for version in versions]


def test_last_month_says_lyon_and_today_says_porto() -> None:
    """Spec 9.3: a replaced value keeps its row; `as_of` returns what was valid then."""
    versions = (LYON, PORTO)
    assert [version_at(versions, minute(at)) for at in (0, 10, 19, 20, 99)] == [LYON, LYON, LYON, PORTO, PORTO]
    assert [version_at(versions, known_at=minute(at)) for at in (9, 10, 19, 20)] == [None, LYON, LYON, PORTO]


@given(histories(), minutes)
def test_what_was_known_at_the_end_is_all_there_is(versions: tuple[MemoryRecord, ...], at: int) -> None:
    """Spec 9.3, the two clocks: knowing everything is asking one clock only."""
    assert version_at(versions, minute(at), minute(99)) == version_at(versions, minute(at))


@given(histories(), minutes, minutes)
def test_what_was_written_later_changes_nothing_of_what_was_known(
    versions: tuple[MemoryRecord, ...], as_of: int, known_at: int
) -> None:
    known = [version for version in versions if version.updated_at <= minute(known_at)]
    then = version_at(known, minute(as_of)) if known else None
    assert version_at(versions, minute(as_of), minute(known_at)) == then


@given(histories(), minutes)
def test_the_version_that_answers_is_the_newest_that_holds(versions: tuple[MemoryRecord, ...], at: int) -> None:
    found = version_at(versions, minute(at))
    if found is None:
        return
    assert holds_at(found, minute(at))
    later = versions[versions.index(found) + 1 :]
    assert all(minute(at) < version.updated_at for version in later[:1])
    assert not any(version.valid_from and holds_at(version, minute(at)) for version in later)


@given(histories())
def test_as_of_now_is_what_a_plain_read_shows(versions: tuple[MemoryRecord, ...]) -> None:
    """Spec 9.3: a default read is as of now."""
    now = minute(99)
    assert answers(versions, Filter(at=now), ("active",)) == answers(versions, Filter(as_of=now), ("active",))


def test_an_episode_has_not_begun_before_it_started() -> None:
    """Spec 9.3: episodes, `started_at` at or before T."""
    trip = raw_record("id", "trip", "Rome", episode=Episode(started_at=minute(15)), valid_from=minute(5))
    assert [holds_at(trip, minute(at)) for at in (5, 14, 15, 99)] == [False, False, True, True]
    assert [version_at((trip,), minute(at)) for at in (14, 15)] == [None, trip]


def test_superseded_versions_are_ignored_where_a_day_is_asked_for() -> None:
    """Spec 9.3: `include_superseded` is for inspection and ignored when `as_of` is given."""
    versions = (LYON, PORTO)
    assert texts(answers(versions, Filter(include_superseded=True), ("active",))) == ["Lyon", "Porto"]
    assert texts(answers(versions, Filter(include_superseded=True, as_of=minute(12)), ("active",))) == ["Lyon"]


def test_an_old_version_is_not_shown_where_the_current_one_may_not_be() -> None:
    """Spec 9.2, 9.6: what waits for review reaches no default read, nor what lies above the ceiling."""
    for hidden in ({"status": "quarantined"}, {"sensitivity": "secret"}):
        versions = (LYON, PORTO.model_copy(update=hidden))
        past = Filter(as_of=minute(12), max_sensitivity="internal")
        assert answers(versions, past, ("active",)) == ()


@st.composite
def conditional_records(draw: st.DrawFn) -> MemoryRecord:
    """A record that may have to be left out of a plain read, for any of the reasons that there are."""
    started_at = draw(bounds)
    fields: dict[str, Any] = {
        "valid_from": draw(bounds),
        "valid_to": draw(bounds),
        "episode": None if started_at is None else Episode(started_at=started_at),
        "archived_at": draw(st.sampled_from((None, minute(0)))),
        "sensitivity": draw(st.sampled_from(("public", "internal", "secret"))),
        "kind": draw(st.sampled_from(("session", "semantic"))),
    }
    return raw_record("id", "key", "text", origin=MemoryOrigin(author="agent", thread_id="t1"), **fields)


@given(conditional_records(), minutes)
def test_conditions_leave_out_what_answers_would(record: MemoryRecord, at: int) -> None:
    """The quick way of a plain read, without the record, and the whole one come to the same."""
    conditions = Conditions(
        begins=begins(record),
        ends=record.valid_to,
        is_archived=record.archived_at is not None,
        is_secret=record.sensitivity == "secret",
        session="t1" if record.kind == "session" else None,
    )
    for asked in (
        Filter(),
        Filter(at=minute(at)),
        Filter(at=minute(at), max_sensitivity="internal", own_thread=True, thread_id="t1"),
        Filter(max_sensitivity="secret", own_thread=True, include_archived=True),
    ):
        assert conditions.let_through(asked) == bool(answers((record,), asked, ("active",)))
