"""Links: one hop, in order of mention, and nothing twice."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.recall import NoteHeader, resolve_links
from mcp_memory_server.recall.headers import normal_link

from .notes import header, hostile_headers

some_headers = st.lists(hostile_headers, max_size=8)


def test_one_hop_is_followed_in_order_of_mention() -> None:
    first = header("n1", "deploy", "See [[release]] and [[ on-call ]], and [[release]] again; [[nowhere]]")
    release = header("n2", "release", "needs [[changelog]]")
    on_call, changelog = header("n3", "on-call"), header("n4", "changelog")
    assert resolve_links([changelog, on_call, release, first], [first]) == (release, on_call)


def test_three_at_most_unless_told_otherwise() -> None:
    targets = [header(f"t{number}", f"k{number}") for number in range(6)]
    first = header("n1", "deploy", " ".join(f"[[k{number}]]" for number in range(6)))
    assert resolve_links([first, *targets], [first]) == tuple(targets[:3])
    assert resolve_links([first, *targets], [first], max=1) == (targets[0],)


def test_a_selected_note_is_no_link_and_nor_is_a_note_to_itself() -> None:
    one = header("n1", "deploy", "[[release]] [[deploy]]")
    other = header("n2", "release", "[[deploy]]")
    assert resolve_links([one, other], [one, other]) == ()


def test_a_key_means_its_narrowest_answer_even_where_that_is_selected_already() -> None:
    mine, wider = header("n1", "release"), header("n2", "release", scope="tenant:acme")
    first = header("n3", "deploy", "[[release]]")
    assert resolve_links([mine, first, wider], [first]) == (mine,)
    assert resolve_links([mine, first, wider], [first, mine]) == ()


def test_two_spellings_of_a_key_are_one() -> None:
    first = header("n1", "deploy", "[[Cafe\u0301  opening hours]]")
    target = header("n2", "Café opening hours")
    assert resolve_links([first, target], [first]) == (target,)


def test_a_text_full_of_brackets_takes_no_time() -> None:
    hostile = header("n1", "k", "[[" * 100_000 + "]]" * 100_000 + "[[office]]")
    assert resolve_links([header("n2")], [hostile]) == (header("n2"),)
    assert len(header("n1", "k", "".join(f"[[{number}]]" for number in range(10_000))).links) == 64


@given(some_headers, some_headers, st.integers(0, 5))
def test_links_are_listed_notes_that_are_named_not_selected_and_not_twice(
    headers: Sequence[NoteHeader], selected: Sequence[NoteHeader], most: int
) -> None:
    found = resolve_links([*headers, *selected], selected, most)
    places = [(note.scope, note.id) for note in found]
    assert len(places) == len(set(places)) <= most
    assert not {(note.scope, note.id) for note in selected} & set(places)
    assert set(found) <= {*headers}
    assert {normal_link(note.key) for note in found} <= {key for note in selected for key in note.links}
