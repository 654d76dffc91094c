"""Folding names, and what a ledger of merges comes to."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import Merge, MergeRequest
from mcp_memory_server.providers.entity_names import NamedEntity, check_merge, fold_name, roots_of, shown

NAMES = "ABCDEF"


@given(st.text())
def test_folding_a_folded_name_changes_nothing(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name)


def test_no_single_character_folds_further_the_second_time() -> None:
    every = map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
    changed = (char for char in every if char.casefold() != char or unicodedata.normalize("NFKC", char) != char)
    assert [char for char in changed if fold_name(fold_name(char)) != fold_name(char)] == []


@given(st.text(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_a_name_folds_alike_in_every_normal_form_and_spacing(name: str, form: str) -> None:
    """9.5: "canonical entities (case- and space-folded name, aliases)"."""
    assert fold_name(f"  {unicodedata.normalize(form, name)}\t") == fold_name(name)  # pyright: ignore[reportArgumentType]


def merge(source: str, target: str, undone: bool = False) -> Merge:
    return Merge(f"{source}{target}", "s", source, target, "ann", "t", undone_at="t" if undone else None)


def named(*ids: str) -> list[NamedEntity]:
    return [NamedEntity(id, "s", id.lower(), Counter([id])) for id in ids]


class Ledger:
    """Merges and unmerges as a store does them, and what they come to."""

    def __init__(self) -> None:
        self.lines: list[Merge] = []

    def merge(self, source: str, target: str) -> bool:
        try:
            check_merge(MergeRequest("s", source, target, "ann", "t"), roots_of(self.lines, NAMES))
        except InvalidInput:
            return False
        self.lines.append(replace(merge(source, target), id=str(len(self.lines))))
        return True

    def unmerge(self, place: int) -> bool:
        if not self.lines or self.lines[place % len(self.lines)].undone_at:
            return False
        place %= len(self.lines)
        self.lines[place] = replace(self.lines[place], undone_at="t")
        return True

    def groups(self) -> list[tuple[str, str | None, Sequence[str]]]:
        return [
            (entity.id, entity.merged_into, entity.aliases)
            for entity in shown(named(*NAMES), roots_of(self.lines, NAMES))
        ]


steps = st.lists(st.one_of(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), st.integers(0, 20)), max_size=20)


def do(ledger: Ledger, step: tuple[str, str] | int) -> bool:
    return ledger.unmerge(step) if isinstance(step, int) else ledger.merge(*step)


@given(steps)
def test_any_merges_and_unmerges_leave_trees_of_depth_one(taken: list[tuple[str, str] | int]) -> None:
    """9.5: "`merged_into` points straight at a root", and nothing is lost or doubled."""
    ledger = Ledger()
    for step in taken:
        do(ledger, step)
        groups = {id: (root, aliases) for id, root, aliases in ledger.groups()}
        assert set(groups) == set(NAMES)
        for id, (root, aliases) in groups.items():
            if root is None:
                assert set(aliases) == {other for other, (into, _) in groups.items() if into == id}
            else:
                assert groups[root][0] is None
                assert aliases == ()


@given(steps)
def test_undoing_merges_in_reverse_order_restores_each_state(taken: list[tuple[str, str] | int]) -> None:
    """9.5: "every merge and unmerge is in a ledger and can be undone"."""
    ledger = Ledger()
    states = [ledger.groups()]
    done: list[int] = []
    for step in taken:
        if not isinstance(step, int) and ledger.merge(*step):
            done.append(len(ledger.lines) - 1)
            states.append(ledger.groups())
    for place, state in zip(reversed(done), reversed(states[:-1]), strict=True):
        assert ledger.unmerge(place)
        assert ledger.groups() == state
    assert ledger.groups() == [(name, None, ()) for name in NAMES]


@given(steps, st.randoms(use_true_random=False))
def test_undoing_all_merges_in_any_order_restores_the_start(taken: list[tuple[str, str] | int], order: Random) -> None:
    ledger = Ledger()
    for step in taken:
        do(ledger, step)
    left = list(range(len(ledger.lines)))
    order.shuffle(left)
    for place in left:
        ledger.unmerge(place)
    assert ledger.groups() == [(name, None, ()) for name in NAMES]


@given(steps, st.sets(st.sampled_from(NAMES)))
def test_who_is_merged_with_whom_does_not_hang_on_who_is_still_there(
    taken: list[tuple[str, str] | int], gone: set[str]
) -> None:
    """What an entity that was erased joined stays joined, under a root that is there."""
    ledger = Ledger()
    for step in taken:
        do(ledger, step)
    whole = roots_of(ledger.lines, NAMES)
    alive = set(NAMES) - gone
    left = roots_of(ledger.lines, alive)
    assert set(left) <= alive
    assert set(left.values()) <= alive
    for one in alive:
        for other in alive:
            assert (whole.get(one, one) == whole.get(other, other)) == (left.get(one, one) == left.get(other, other))


def test_a_circle_is_refused_by_name_of_the_argument() -> None:
    """9.5: a merge "points straight at a root", so none may lead back."""
    roots = roots_of([merge("A", "B"), merge("B", "C")], "ABC")
    for source, target in ("AA", "BA", "CA", "AC"):
        with pytest.raises(InvalidInput, match="into is the same entity already"):
            check_merge(MergeRequest("s", source, target, "ann", "t"), roots)
    check_merge(MergeRequest("s", "D", "A", "ann", "t"), roots)


def test_the_name_of_an_entity_is_the_spelling_used_most() -> None:
    spelled = NamedEntity("1", "s", "acme", Counter({"ACME": 1, "Acme": 2, "acme": 2}))
    (entity,) = shown([spelled], {})
    assert (entity.name, entity.aliases) == ("Acme", ("ACME", "acme"))
