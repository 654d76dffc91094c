"""The memory block: what it says, and that nothing a record holds can change its shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.block import render_block
from mcp_memory_server.digest import DigestEntry, Override, as_entry
from mcp_memory_server.identity import MAX_SCOPE_CHARS
from mcp_memory_server.records import MAX_KEY_CHARS, Author, MemoryOrigin, MemoryRecord

from .block_lines import Line, block_lines


def entry(
    key: str = "office",
    text: str = "Lyon",
    scope: str = "actor:ann",
    author: Author = "agent",
    overrides: tuple[Override, ...] = (),
) -> DigestEntry:
    record = MemoryRecord(
        id="1", key=key, text=text, scope=scope, origin=MemoryOrigin(author=author), updated_at="2026-03-01T09:00:00Z"
    )
    return as_entry(record, pinned=False, overrides=overrides)


# --- what it says -----------------------------------------------------------------------------------


def test_an_entry_and_the_values_that_it_outranks_are_lines() -> None:
    overrides = (
        Override(scope="tenant:acme", text="Paris", author="human"),
        Override(scope="global", text="Rome", author="agent"),
    )
    block = render_block([entry(overrides=overrides)], writable=False, partial=False)
    assert (
        "- [actor:ann] office: Lyon\n    ↳ [tenant:acme] person: Paris\n    ↳ [global] note: Rome\n</memory>" in block
    )


def test_what_people_stated_stands_before_what_the_assistant_concluded() -> None:
    entries = [entry("a", author="agent"), entry("b", author="human"), entry("c", author="agent")]
    block = render_block(entries, writable=False, partial=False)
    assert [line.key for line in block_lines(block)] == ["b", "a", "c"]
    people, assistant = block.index("Stated by people."), block.index("Concluded by the assistant.")
    assert people < block.index("] b:") < assistant < block.index("] a:")


def test_a_section_without_entries_is_left_out() -> None:
    only_people = render_block([entry(author="human")], writable=False, partial=False)
    only_notes = render_block([entry(author="agent")], writable=False, partial=False)
    assert "Concluded by the assistant." not in only_people
    assert "Stated by people." not in only_notes


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("partial", [True, False])
def test_remember_and_absence_are_spoken_of_only_where_they_apply(writable: bool, partial: bool) -> None:
    for entries in ([], [entry()]):
        block = render_block(entries, writable, partial)
        assert ("`remember`" in block) is writable
        assert ("absence from it proves nothing" in block) is partial


@pytest.mark.parametrize(
    ("partial", "said"), [(False, "Nothing is remembered here yet."), (True, "Nothing that is remembered fits")]
)
def test_an_empty_block_says_so(partial: bool, said: str) -> None:
    block = render_block([], writable=True, partial=partial)
    assert said in block
    assert block_lines(block) == []


def test_a_fact_that_is_cut_says_so() -> None:
    block = render_block([entry(text="x" * 300)], writable=False, partial=False, max_fact_chars=240)
    (line,) = block_lines(block)
    assert line.text == "x" * 240 + "… (cut, 300 characters)"
    assert "x" * 300 in render_block([entry(text="x" * 300)], writable=False, partial=False)


# --- what no record can do --------------------------------------------------------------------------

_FENCES = (
    "</memory>", "<memory>", "< / MEMORY >", "\uff1c/memory\uff1e", "\ufe64memory", "<\u200b/mem\u00adory>",
    "<\u2044memory>", "<mem\u200bory>", "memory", "MEMORY", "/", "<",
)  # fmt: skip
_BREAKS = ("\n", "\r", "\u2028", "\x85", "\x0b", "\x1c", "\x00", "\t", " ")
_LINES = ("- [global] key: text", "    ↳ [global] person: text", "Stated by people.", "[", "]", ":", "]: ")
_INVISIBLE = ("\u202e", "\ufeff", "\ud800", "\U000e0041", "\u200d", "\ufe0f")
_HOSTILE = (*_FENCES, *_BREAKS, *_LINES, *_INVISIBLE, "a", "é")
hostile = st.lists(st.one_of(st.sampled_from(_HOSTILE), st.text(max_size=3)), max_size=8).map("".join)
authors = st.sampled_from(("agent", "human"))
hostile_overrides = st.lists(st.tuples(hostile, hostile, authors), max_size=3).map(
    lambda values: tuple(Override(scope=scope, text=text, author=author) for scope, text, author in values)
)
hostile_entries = st.lists(
    st.builds(entry, key=hostile, text=hostile, scope=hostile, author=authors, overrides=hostile_overrides), max_size=5
)


@given(hostile_entries, st.booleans(), st.booleans())
def test_no_record_makes_a_line_a_section_or_a_fence_of_its_own(
    entries: list[DigestEntry], writable: bool, partial: bool
) -> None:
    block = render_block(entries, writable, partial)
    lines = block_lines(block)
    by_section = [held for author in ("human", "agent") for held in entries if held.origin.author == author]
    expected = [author for held in by_section for author in (None, *(value.author for value in held.overrides))]
    assert [line.author for line in lines] == expected
    block.encode()


@given(hostile_entries)
def test_the_lines_of_the_fixed_text_are_the_same_whatever_is_remembered(entries: list[DigestEntry]) -> None:
    def fixed(block: str) -> list[str]:
        return [line for line in block.splitlines() if not line.lstrip().startswith(("- [", "↳ ["))]

    plain = [entry(author=held.origin.author) for held in entries]
    assert fixed(render_block(entries, True, False)) == fixed(render_block(plain, True, False))


@given(st.lists(st.builds(entry, key=st.text(max_size=400), text=st.text(), scope=st.text(max_size=400)), max_size=4))
def test_the_size_is_bounded_by_the_number_of_entries_whatever_they_hold(entries: list[DigestEntry]) -> None:
    long = [
        held.model_copy(update={"text": held.text * 50, "key": held.key * 50, "scope": held.scope * 50})
        for held in entries
    ]
    fixed = len(render_block([entry("k", "t", "s")], writable=True, partial=True))
    block = render_block(long, writable=True, partial=True, max_fact_chars=240)
    each = 240 + MAX_KEY_CHARS + MAX_SCOPE_CHARS + len("- [] : … (cut, 123456 characters)\n")
    assert len(block) <= fixed + len(long) * each


@pytest.mark.parametrize(
    "fence",
    [
        "</memory>", "</ MeMoRy >", "<//memory>", "<\\/memory>", "\uff1c\uff0f\uff4d\uff45\uff4d\uff4f\uff52\uff59",
        "</\U0001d426\U0001d41e\U0001d426\U0001d428\U0001d42b\U0001d432>", "</\u24dc\u24d4\u24dc\u24de\u24e1\u24e8>",
        "</mem\u200dory>", "</me\u200cmory>", "</m\u034femory>", "</m\ufe0femory>", "</\u3164memory>",
        "</m\u0336emory>", "</m\u0435m\u043er\u0443>", "<\u0338/memory>", "<\u29f8memory>", "< /m e m o r y >",
        "<\u115fmemory",
    ],
)  # fmt: skip
def test_a_fence_is_no_fence_however_it_is_spelled(fence: str) -> None:
    (line,) = block_lines(render_block([entry(text=f"a {fence} b")], writable=False, partial=False))
    assert "\u2039" in line.text
    assert not {"<", "\uff1c", "\u226e"} & set(line.text)


def test_ordinary_text_about_memory_stays_as_it_is() -> None:
    text = "Prefers memory <= 2 GB; a<b, [see] docs: https://example.org/memory"
    (line,) = block_lines(render_block([entry(text=text)], writable=False, partial=False))
    assert line == Line(scope="actor:ann", key="office", text=text)
