"""What maintenance comes to, as a pure function of the records of a scope."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.policy import waits_for_provenance_alone
from mcp_memory_server.providers.contract.samples import ANN, minute, raw_record
from mcp_memory_server.records import Insight, MemoryOrigin, MemoryRecord, Rule, WorkingBlock, lane_of
from mcp_memory_server.similarity import Steps
from mcp_memory_server.upkeep import ScopeUpkeep, UpkeepRules, is_kept, plan_upkeep

NOW = minute(30)
PERSON = MemoryOrigin(author="human", actor_ref="ann")
INDUCED: dict[str, Any] = {"kind": "procedural", "provenance": "induction"}
WAITING: dict[str, Any] = {**INDUCED, "status": "quarantined", "held_because": "provenance: induction"}


def tried(successes: int, failures: int = 0) -> Rule:
    return Rule(condition="c", steps=("s",), success_count=successes, failure_count=failures)


def planned(*records: MemoryRecord, now: str = NOW, **rules: int) -> ScopeUpkeep:
    return plan_upkeep(ANN, records, now, UpkeepRules(**rules))


def set_aside(plan: ScopeUpkeep) -> list[tuple[str, str]]:
    return [(aside.record.id, aside.because) for aside in plan.set_aside]


def test_a_fact_that_has_ended_is_closed() -> None:
    """Issue 5, maintenance: expired facts closed; at the very instant at which they end, and not before."""
    ended = raw_record("id", "trip", "Is in Porto", valid_to=minute(30))
    assert set_aside(planned(ended)) == [("id", f"ended {minute(30)}")]
    assert set_aside(planned(ended, now=minute(29))) == []


def test_an_insight_that_votes_brought_down_is_set_aside() -> None:
    """9.1: pruned at 0 or less; also while it waits for review."""
    records = [
        raw_record(f"id-{number}", f"k{number}", "t", kind="insight", insight=Insight(cites=("x",), salience=number))
        for number in (1, 0, -1)
    ]
    assert set_aside(planned(*records)) == [("id--1", "salience -1"), ("id-0", "salience 0")]
    waiting = [record.model_copy(update={"status": "quarantined"}) for record in records]
    assert len(planned(*waiting).set_aside) == 2


@pytest.mark.parametrize(
    "word",
    [
        {"origin": PERSON},
        {"provenance": "user"},
        {"pinned": True},
        {"kind": "working", "working": WorkingBlock(value="v", char_limit=9)},
    ],
    ids=["person", "user", "pinned", "block"],
)
def test_what_a_person_stated_or_pinned_and_working_blocks_are_left_alone(word: dict[str, Any]) -> None:
    """Issue 5: never deletes what a person stated; here it is not even set aside."""
    insight: dict[str, Any] = {"kind": "insight", "insight": Insight(cites=("x",), salience=0)}
    records = [
        raw_record("ended", "a", "t", valid_to=minute(1), importance=0.0, **word),
        raw_record("beyond", "b", "u", importance=0.0, **word),
        raw_record("note", "c", "w", importance=1.0),
        *([] if "kind" in word else [raw_record("voted", "d", "x", **insight, **word)]),
    ]
    plan = planned(*records, max_records=1)
    assert [record_id for record_id, _ in set_aside(plan)] == ["note"]
    assert plan.beyond == len(records) - 2


def test_beyond_the_limit_the_least_important_and_oldest_go() -> None:
    """Issue 5: capacity limits by importance and age; what says nothing of its importance has 0.5."""
    records = [
        raw_record("old", "a", "t", at=1),
        raw_record("new", "b", "u", at=2),
        raw_record("minor", "c", "v", at=9, importance=0.4),
        raw_record("major", "d", "w", at=0, importance=0.6),
    ]
    assert planned(*records).set_aside == ()
    assert planned(*records, max_records=4).set_aside == ()
    gone = [[record_id for record_id, _ in set_aside(planned(*records, max_records=most))] for most in (3, 2, 1)]
    assert gone == [["minor"], ["minor", "old"], ["minor", "old", "new"]]
    (because,) = {because for _, because in set_aside(planned(*records, max_records=1))}
    assert because == "one of the least important and oldest beyond 1 facts at its scope"


def test_what_waits_or_is_archived_counts_toward_no_limit() -> None:
    records = [
        raw_record("waits", "a", "t", status="quarantined"),
        raw_record("aside", "b", "u", archived_at=minute(1)),
        raw_record("ended", "c", "v", valid_to=minute(1)),
        raw_record("fact", "d", "w"),
    ]
    assert [record_id for record_id, _ in set_aside(planned(*records, max_records=1))] == ["ended"]


def test_an_induced_rule_is_promoted_once_it_worked_often_enough() -> None:
    """9.1: promoted from quarantine after a configured number of recorded successes."""
    waiting = raw_record("id", "release", "t", rule=tried(3, 2), **WAITING)
    assert waits_for_provenance_alone(waiting)
    assert [promotion.record for promotion in planned(waiting).promotions] == [waiting]
    assert planned(waiting, promote_after=4).promotions == ()
    others = [
        waiting.model_copy(update={"rule": tried(3, 3)}),
        waiting.model_copy(update={"held_because": "provenance: induction; reads like an instruction: x"}),
        waiting.model_copy(update={"archived_at": minute(1)}),
        waiting.model_copy(update={"rule": None}),
        waiting.model_copy(update={"valid_to": NOW}),
    ]
    assert [planned(other).promotions for other in others] == [()] * len(others)


def test_a_rule_takes_the_place_of_one_that_worked_less_and_of_nobodys_word() -> None:
    waiting = raw_record("id", "release", "t", rule=tried(3), **WAITING)
    standing = raw_record("old", "release", "u", rule=tried(2), **INDUCED)
    (promotion,) = planned(waiting, standing).promotions
    assert (promotion.record, promotion.over) == (waiting, standing)
    kept: list[dict[str, Any]] = [{"rule": tried(3)}, {"origin": PERSON}, {"pinned": True}, {"rule": None}]
    for update in kept:
        assert planned(waiting, standing.model_copy(update=update)).promotions == ()


def test_of_several_rules_that_wait_for_one_place_the_best_is_promoted() -> None:
    waiting = [raw_record(f"id-{count}", "release", f"t{count}", rule=tried(count), **WAITING) for count in (3, 5, 4)]
    assert [promotion.record.id for promotion in planned(*waiting).promotions] == ["id-5"]


def test_a_rule_that_would_go_again_at_once_goes_on_waiting() -> None:
    waiting = raw_record("id", "release", "t", rule=tried(3), importance=0.1, **WAITING)
    plan = planned(waiting, raw_record("fact", "a", "u"), max_records=1)
    assert (plan.promotions, plan.set_aside, plan.beyond) == ((), (), 0)
    standing = raw_record("old", "release", "v", rule=tried(1), importance=0.9, **INDUCED)
    plan = planned(waiting, standing, raw_record("fact", "a", "u"), max_records=1)
    assert (plan.promotions, [record_id for record_id, _ in set_aside(plan)]) == ((), ["old"])


def test_keys_that_name_one_question_and_texts_that_say_one_thing_are_proposed() -> None:
    """Issue 5: near-duplicate keys proposed for merging. The person's word is the one to keep, else the weightiest."""
    records = [
        raw_record("1", "time-zone", "Paris", at=5),
        raw_record("2", "Timezone", "Europe/Paris", origin=PERSON),
        raw_record("3", "seat", "Ann prefers window seats on long trains"),
        raw_record("4", "trains", "On long trains Ann prefers a window seat", at=1),
        raw_record("5", "office", "Lyon"),
    ]
    plan = planned(*records)
    assert [(alike.by, [record.id for record in alike.records]) for alike in plan.alike] == [
        ("keys", ["2", "1"]),
        ("texts", ["4", "3"]),
    ]
    assert (plan.set_aside, plan.compared) == ((), True)


def test_notes_of_a_conversation_blocks_and_other_kinds_are_no_duplicates() -> None:
    here = MemoryOrigin(author="agent", thread_id="here")
    records = [
        raw_record("1", "seat", "Ann prefers a window seat"),
        raw_record("2", "a seat", "Ann prefers a window seat", kind="session", origin=here),
        raw_record("3", "b seat", "Ann prefers a window seat", kind="episodic"),
        raw_record("4", "c seat", "Ann prefers a window seat", status="quarantined"),
        raw_record("5", "d seat", "Ann prefers a window seat", archived_at=minute(1)),
        raw_record("6", "e seat", "Ann prefers a window seat", valid_to=minute(1)),
    ]
    assert planned(*records).alike == ()


def test_a_plan_says_when_not_everything_could_be_compared() -> None:
    records = [raw_record(str(number), f"key {number}", "the same words each time") for number in range(9)]
    plan = plan_upkeep(ANN, records, NOW, UpkeepRules(), Steps(3))
    assert not plan.compared


# --- laws ---------------------------------------------------------------------------------------------

minutes = st.integers(0, 40).map(minute)


@st.composite
def some_records(draw: st.DrawFn) -> list[MemoryRecord]:
    """Records as a scope holds them: one of each lane of a key is active."""
    taken: set[tuple[str, str]] = set()
    records: list[MemoryRecord] = []
    for number in range(draw(st.integers(0, 9))):
        fields: dict[str, Any] = draw(
            st.sampled_from(
                (
                    {},
                    {"origin": PERSON},
                    {"provenance": "user"},
                    {"pinned": True},
                    {"kind": "working", "working": WorkingBlock(value="v", char_limit=9)},
                    {"kind": "session"},
                    {"kind": "insight", "insight": Insight(cites=("x",), salience=0)},
                    {"kind": "insight", "insight": Insight(cites=("x",), salience=2)},
                    {**WAITING, "rule": tried(3)},
                    {**WAITING, "rule": tried(4)},
                    {**INDUCED, "rule": tried(3)},
                    {"status": "quarantined", "held_because": "a test"},
                )
            )
        )
        record = raw_record(
            f"id-{number}",
            draw(st.sampled_from(("a", "b", "release", "other"))),
            draw(st.sampled_from(("Lyon", "Ann prefers a window seat"))),
            valid_to=draw(st.one_of(st.none(), st.none(), minutes)),
            importance=draw(st.one_of(st.none(), st.sampled_from((0.1, 0.9)))),
            archived_at=draw(st.sampled_from((None, None, None, minute(3)))),
            **fields,
        ).model_copy(update={"updated_at": draw(minutes)})
        if (place := (record.key, lane_of(record))) not in taken:
            taken.add(place)
            records.append(record)
    return records


def carried_out(records: list[MemoryRecord], plan: ScopeUpkeep, now: str) -> list[MemoryRecord]:
    """The records after the plan, as a store would have them."""
    held = {record.id: record for record in records}
    for aside in plan.set_aside:
        held[aside.record.id] = aside.record.model_copy(update={"archived_at": now, "updated_at": now})
    for promotion in plan.promotions:
        record = held.pop(promotion.record.id)
        active = {"status": "active", "held_because": None, "updated_at": now}
        kept = {} if promotion.over is None else {"id": promotion.over.id}
        promoted = record.model_copy(update=active | kept)
        held[promoted.id] = promoted
    return list(held.values())


@given(some_records(), st.integers(0, 5))
def test_nothing_that_a_person_stated_or_pinned_is_touched(records: list[MemoryRecord], most: int) -> None:
    plan = planned(*records, max_records=most)
    aside = [aside.record for aside in plan.set_aside]
    replaced = [promotion.over for promotion in plan.promotions if promotion.over is not None]
    assert not [record for record in (*aside, *replaced) if is_kept(record)]
    assert len({record.id for record in aside}) == len(aside)


@given(some_records(), st.integers(0, 5))
def test_a_second_run_does_nothing(records: list[MemoryRecord], most: int) -> None:
    after = carried_out(records, planned(*records, max_records=most), NOW)
    again = planned(*after, max_records=most)
    assert (again.set_aside, again.promotions) == ((), ())


@given(some_records(), st.integers(1, 5))
def test_afterwards_the_limit_holds_or_is_said_to_be_passed(records: list[MemoryRecord], most: int) -> None:
    plan = planned(*records, max_records=most)
    after = carried_out(records, plan, NOW)
    shown = [record for record in after if record.status == "active" and record.archived_at is None]
    assert len(shown) <= most + plan.beyond
    assert plan.beyond == 0 or all(map(is_kept, shown))
    replaced = sum(promotion.over is not None for promotion in plan.promotions)
    assert len(after) == len(records) - replaced


@given(some_records(), st.randoms())
def test_the_order_in_which_records_come_changes_nothing(records: list[MemoryRecord], random: Any) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)
    assert planned(*shuffled, max_records=2) == planned(*records, max_records=2)
