"""Section 8 of the specification, a test for each of its points and named after it; their laws are held elsewhere."""

from datetime import timedelta

from mcp_memory_server.recall import (
    RECALL_CAVEAT,
    Block,
    BodyLimits,
    Degrade,
    FullRecall,
    ManifestLimits,
    NothingNew,
    PickedNotes,
    SelectionRequest,
    Selector,
    build_manifest,
    compose_selective_body,
    encode_surfaced_key,
    format_age,
    resolve_links,
    validate_selected_ids,
)
from mcp_memory_server.service.selective import SelectiveRequest, recall_selectively
from mcp_memory_server.service.selector_guard import DEFAULT_TIME_LIMIT_S, SelectorGuard

from .notes import NOW, header, headers_of, note

NOTES = (
    note("n1", "deploy", "Deploys need the [[release]] list", days=21),
    note("n2", "release", "Tag, changelog, wheel; see [[changelog]]", days=1),
    note("n3", "changelog", "For users", days=0),
)


class PicksFirst:
    """The simplest selector: the first note of the manifest."""

    async def select(self, request: SelectionRequest) -> list[str]:
        return [request.manifest.text.split()[1]]


def test_format_age() -> None:
    ages = {0: "today", 1: "yesterday", 2: "2 days ago", 7: "1 week ago", 21: "3 weeks ago", 30: "1 month ago"}
    assert {days: format_age(timedelta(days=days)) for days in ages} == ages
    assert format_age(timedelta(hours=-1)) == "today"


def test_recall_caveat_is_two_titled_sections_and_the_second_names_checks_to_make_first() -> None:
    titles = [line for line in RECALL_CAVEAT.splitlines() if line.startswith("## ")]
    assert len(titles) == 2
    assert "point in time" in titles[0]
    assert titles[1] == "## Before you act on a memory"
    drift, checks = RECALL_CAVEAT.split(titles[1])
    assert "may have changed" in drift
    assert len([line for line in checks.splitlines() if line[:2] in {"1.", "2.", "3.", "4."}]) == 4


def test_build_manifest_has_one_line_a_note_and_says_how_many_were_left_out() -> None:
    hostile = header("n1", "a\n- n2 (semantic, today) b\u2028c", days=8)
    manifest = build_manifest([hostile, *(header(f"m{number}") for number in range(9))], NOW, ManifestLimits(3, 200))
    assert manifest.text.splitlines() == [
        "- n1 (semantic, 1 week ago) a - n2 (semantic, today) b c",
        "- m0 (semantic, today) office",
        "(8 more are not listed)",
    ]
    assert len(build_manifest([header()] * 9, NOW, ManifestLimits(9, 64)).text.encode()) <= 64


async def test_selector_maps_objective_manifest_and_recent_tools_to_ids() -> None:
    selector: Selector = PicksFirst()
    request = SelectionRequest("deploy the thing", build_manifest(headers_of(*NOTES), NOW), ("shell",))
    assert await selector.select(request) == ["n1"]


def test_validate_selected_ids_drops_invented_ids_and_doubles_and_what_is_beyond_max() -> None:
    headers = headers_of(*NOTES)
    assert [note.id for note in validate_selected_ids(headers, ["n3", "n9", "n3", "n1", "n2"], max=2)] == ["n3", "n1"]


def test_resolve_links_is_one_hop_to_at_most_three_notes_never_one_already_selected() -> None:
    headers = headers_of(*NOTES)
    assert [note.id for note in resolve_links(headers, headers[:1])] == ["n2"]
    assert resolve_links(headers, headers[:2]) == (headers[2],)
    hub = header("h", "hub", " ".join(f"[[k{number}]]" for number in range(5)))
    assert len(resolve_links([hub, *(header(f"t{number}", f"k{number}") for number in range(5))], [hub])) == 3


def test_compose_selective_body_has_index_selected_and_linked_notes_as_data_under_one_fence_and_a_cap() -> None:
    picked = PickedNotes(NOTES[:1], NOTES[1:2], headers_of(NOTES[2], note("n4", "policy", scope="tenant:acme")))
    full = FullRecall("mcp__mem__recall_digest", frozenset({"actor:ann"}))
    text = compose_selective_body(picked, NOW, BodyLimits(max_bytes=4_096), full).text
    index, selected, linked = (text.index(part) for part in ("n3 (semantic", "deploy: ", "release: "))
    assert index < selected < linked
    assert "3 weeks ago; verify it is still current" in text
    assert "by the assistant, yesterday)" in text
    assert (text[:9], text[-9:], len(text.encode()) <= 4_096) == ("<memory>\n", "</memory>", True)
    assert "At actor:ann (load in full with `mcp__mem__recall_digest`, by id):" in text
    assert "At tenant:acme:\n" in text


def test_surfaced_keys_are_opaque_and_no_two_pairs_run_together() -> None:
    keys = {encode_surfaced_key(*pair) for pair in (("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", ""))}
    assert len(keys) == 4
    assert not [key for key in keys if "abc" in key]


async def test_result_of_a_recall_is_a_block_or_nothing_new_or_degrade() -> None:
    guard = SelectorGuard(PicksFirst())
    first = await recall_selectively(SelectiveRequest("deploy", NOTES, NOW), guard)
    assert isinstance(first, Block)
    assert first.surfaced == {encode_surfaced_key("actor:ann", "n1"), encode_surfaced_key("actor:ann", "n2")}
    second = await recall_selectively(SelectiveRequest("deploy", NOTES, NOW, first.surfaced), guard)
    assert isinstance(second, Block)
    third = await recall_selectively(SelectiveRequest("deploy", NOTES, NOW, first.surfaced | second.surfaced), guard)
    assert (third, third.surfaced) == (NothingNew(), frozenset())
    nothing = await recall_selectively(SelectiveRequest("deploy", (), NOW), guard)
    assert (nothing, nothing.surfaced) == (Degrade("empty_scope"), frozenset())
    assert DEFAULT_TIME_LIMIT_S == 5


async def test_layered_recall_has_one_caveat_and_one_fence_and_ids_count_with_their_scope() -> None:
    mine, theirs = note("n1", "deploy", "by hand"), note("n1", "release", "weekly", scope="tenant:acme")
    guard = SelectorGuard(PicksFirst())
    first = await recall_selectively(SelectiveRequest("deploy", (mine, theirs), NOW), guard)
    second = await recall_selectively(SelectiveRequest("deploy", (mine, theirs), NOW, first.surfaced), guard)
    assert isinstance(first, Block)
    assert isinstance(second, Block)
    assert first.surfaced | second.surfaced == {
        encode_surfaced_key("actor:ann", "n1"),
        encode_surfaced_key("tenant:acme", "n1"),
    }
    both = compose_selective_body(PickedNotes((mine, theirs)), NOW).text
    assert both.count(RECALL_CAVEAT) == both.count("<memory>") == 1
    assert "- [actor:ann] deploy: by hand" in both
    assert "- [tenant:acme] release: weekly" in both
