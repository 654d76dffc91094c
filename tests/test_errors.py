"""Errors: stable codes, and messages that say what to do and tell no secrets."""

import pytest

from mcp_memory_server.errors import (
    ECHO_LIMIT,
    ConfigurationError,
    Conflict,
    InvalidInput,
    MemoryServerError,
    NotFound,
    NotSupported,
    Problem,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    StoreUnavailable,
    echo,
)

ERRORS: tuple[tuple[MemoryServerError, str], ...] = (
    (InvalidInput.of("key", "is blank"), "invalid_input"),
    (NotFound("memory", "id-1", "List what you can see."), "not_found"),
    (Refused("no"), "refused"),
    (Conflict("office", 1, 2, "Lyon"), "conflict"),
    (ConfigurationError("no"), "configuration"),
    (StoreBusy(5), "store_busy"),
    (StoreUnavailable("no"), "store_unavailable"),
    (StoreDamaged("no"), "store_damaged"),
    (StoreTooNew(9, 3), "store_too_new"),
    (NotSupported("memory", "search", "List instead."), "not_supported"),
)


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=[code for _, code in ERRORS])
def test_every_error_has_a_stable_code_and_one_root(error: MemoryServerError, code: str) -> None:
    assert error.code == code
    assert isinstance(error, StoreError) is (code.startswith("store_") or code == "not_supported")


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(NotFound, LookupError)
    assert issubclass(Refused, PermissionError)


def test_every_wrong_argument_is_named() -> None:
    error = InvalidInput(Problem("key", "is blank"), Problem("fact", "is too long"))
    assert str(error) == "key is blank; fact is too long."


def test_a_conflict_names_both_versions_and_keeps_the_text_out_of_its_message() -> None:
    conflict = Conflict("office", 1, 2, "Lyon")
    assert "version 2, not at version 1" in str(conflict)
    assert "Lyon" not in str(conflict)
    assert "does not exist" in str(Conflict("office", 1, 0))


@pytest.mark.parametrize("value", ["x" * 1_000, "é" * 1_000, "\x1b[2J" * 100, list(range(1_000)), "\u202eevil"])
def test_a_value_is_shown_in_part_and_harmless_to_a_terminal(value: object) -> None:
    assert len(echo(value)) <= ECHO_LIMIT
    assert echo(value).isprintable()


def test_a_short_value_is_shown_as_it_is() -> None:
    assert echo("名前") == "'名前'"
    assert echo(7) == "7"


@pytest.mark.parametrize("around", ["{}", "memory://records/{}", "[{}]", "the token {} and\nmore"])
def test_what_looks_like_a_credential_is_not_echoed(around: str) -> None:
    """9.6: never echoed, whichever argument it was put into."""
    token = "ghp_" + "wR7kQ2mZx9LtV4bNc8YdS1fHj6GpA3eU0iTo"
    for value in (around.format(token), [around.format(token)]):
        assert echo(value) == "(withheld: it looks like a credential, GitHub token)"
    assert token not in str(NotFound("memory", around.format(token), "Look elsewhere."))


def test_ids_and_times_are_no_credentials() -> None:
    for value in ("01a22bcf-7ecd-76fa-9ee6-1deac1b837df", "2026-03-01T09:00:00.000Z", "actor:ann#web", 2**53):
        assert echo(value) == repr(value)
