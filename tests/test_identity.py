"""Actors and the tokens of scopes."""

from urllib.parse import unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.identity import (
    MAX_SCOPE_CHARS,
    Actor,
    DefaultScopeResolver,
    RequestContext,
    actor_scope,
    check_scope,
    encode_name,
    is_own_scope,
    project_scope,
    tenant_scope,
)

whole_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
names = st.one_of(whole_text, st.text(st.sampled_from("a#%[] \t\x00é2305"), min_size=1, max_size=8)).filter(str.strip)


@given(names)
def test_an_encoded_name_can_be_decoded_so_no_two_names_share_a_token(name: str) -> None:
    assert unquote(encode_name(name)) == name


@given(names)
def test_any_name_makes_a_scope_that_a_record_may_carry(name: str) -> None:
    scope = actor_scope(Actor(name))
    assert check_scope(scope) == scope
    assert "#" not in scope


@pytest.mark.parametrize("name", ["ann", "Ann", "ann@example.org", "DOMAIN\\ann", "名前", "a:b", "a/b", "a+b"])
def test_a_name_that_is_safe_stands_as_it_is(name: str) -> None:
    assert encode_name(name) == name


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("a b", "a%20b"),
        ("a#b", "a%23b"),
        ("100%", "100%25"),
        ("[x]", "%5Bx%5D"),
        ("a\u00a0b", "a%C2%A0b"),
        ("\x85", "%C2%85"),
    ],
)
def test_unsafe_characters_are_percent_encoded_as_utf_8(name: str, encoded: str) -> None:
    assert encode_name(name) == encoded


@given(names, names, names)
def test_the_scopes_of_one_actor_are_nobody_else_s_own(one: str, other: str, project: str) -> None:
    assume(one != other)
    ann, bob = Actor(one), Actor(other)
    for scope in (actor_scope(ann), project_scope(ann, project)):
        assert is_own_scope(ann, scope)
        assert not is_own_scope(bob, scope)


@pytest.mark.parametrize(
    "scope", ["actor:ann#", "actor:anna", "actor:Ann", "actor:an", "tenant:ann", "global", "ann", ""]
)
def test_what_only_looks_like_an_own_scope_is_none(scope: str) -> None:
    assert not is_own_scope(Actor("ann"), scope)


@pytest.mark.parametrize(
    "scope", ["", "x" * (MAX_SCOPE_CHARS + 1), "a b", "a\tb", "a]b", "[", "a\x00", "a\u2028b", "\ud800"]
)
def test_a_token_that_no_record_may_carry_is_refused(scope: str) -> None:
    with pytest.raises(InvalidInput, match=r"^scope "):
        check_scope(scope)


@pytest.mark.parametrize("scope", ["x", "x" * MAX_SCOPE_CHARS, "部門:営業", "team:red/blue#1"])
def test_any_other_token_is_a_scope(scope: str) -> None:
    assert check_scope(scope) == scope


@pytest.mark.parametrize(
    ("id", "tenant"),
    [("", None), (" ", None), ("ann", ""), ("ann", "\t"), ("a" * 200, None), ("ann", "t" * 200), ("\ud800", None)],
)
def test_an_actor_that_no_scope_could_name_is_refused(id: str, tenant: str | None) -> None:
    with pytest.raises(InvalidInput):
        Actor(id, tenant)


async def test_scopes_are_resolved_from_the_most_specific_to_the_widest() -> None:
    resolver = DefaultScopeResolver()
    ann = Actor("ann", "acme corp")
    everything = ("actor:ann#web shop".replace(" ", "%20"), "actor:ann", "tenant:acme%20corp", "global")
    assert await resolver.resolve(RequestContext(ann, project="web shop")) == everything
    assert await resolver.resolve(RequestContext(ann)) == everything[1:]
    assert await resolver.resolve(RequestContext(Actor("ann"))) == ("actor:ann", "global")


async def test_a_project_whose_scope_would_be_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput):
        await DefaultScopeResolver().resolve(RequestContext(Actor("ann"), project="p" * 200))


def test_a_tenant_s_token_cannot_be_taken_for_an_actor_s() -> None:
    assert tenant_scope("a#b") == "tenant:a%23b"
