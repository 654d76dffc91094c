"""The command line on a Postgres store: `migrate`, and what is told and shown of its URLs."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.providers.postgres_server import StoreUrls, cluster, fetch

from .conftest import CommandLine


@pytest.fixture
def blank(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> StoreUrls:
    """A database without a store, named by the settings."""
    urls = cluster().blank()
    monkeypatch.setenv("MCP_MEMORY_URL", urls.url)
    monkeypatch.setenv("MCP_MEMORY_ADMIN_URL", urls.owner_url)
    return urls


def password(urls: StoreUrls) -> str:
    found = urlsplit(urls.url).password
    assert found
    return found


def test_the_owner_migrates_and_the_commands_work_as_the_servers_role(line: CommandLine, blank: StoreUrls) -> None:
    assert "`mcp-memory-server migrate`" in line.fails("list")
    made = line.ok("migrate", "--partitions", "2")
    assert "Made a store of version 1" in made
    assert "each table in 2 partitions" in made
    assert f"Servers may use it as {cluster().role}." in made
    assert "is at version 1 already, each table in 2 partitions" in line.ok("migrate")
    line.ok("remember", "office", "Lyon")
    line.ok("remember", "office", "Paris")
    assert line.held() == {"actor:ann office": "Paris"}
    exported = line.ok("export")
    assert line.json("import", "-", stdin=exported)["changed"] == 0
    line.ok("maintain")
    assert line.json("doctor")["store"]["role"] == cluster().role
    line.ok("forget", "office")
    assert line.held() == {}


def test_what_migrate_did_is_told_as_data(line: CommandLine, blank: StoreUrls) -> None:
    done = line.json("migrate", "--partitions", "0")["migrated"]
    assert (done["before"], done["after"], done["partitions"]) == (0, 1, 0)
    assert done["server_role"] == cluster().role
    assert len(done["notes"]) == 1


def test_the_owners_url_may_stand_in_a_file(
    line: CommandLine, blank: StoreUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MCP_MEMORY_ADMIN_URL")
    (line.folder / "owner").write_text(f"{blank.owner_url}\n")
    line.ok("migrate", "--partitions", "0", "--admin-url-file", "owner")
    line.ok("remember", "office", "Lyon")


def test_servers_do_what_the_owner_was_named_for_never_by_themselves(line: CommandLine, blank: StoreUrls) -> None:
    assert "`mcp-memory-server migrate`" in line.fails("list", "--url", blank.owner_url)
    assert fetch(blank.admin_url, "SELECT to_regnamespace('mcp_memory') AS found")[0]["found"] is None


def test_one_setting_is_enough_for_a_first_try(
    line: CommandLine, blank: StoreUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MCP_MEMORY_ADMIN_URL")
    line.ok("remember", "office", "Lyon", "--url", blank.owner_url)
    assert "owns the tables" in line.ok("migrate", "--url", blank.owner_url)


def test_what_cannot_work_is_told_with_the_setting(line: CommandLine, blank: StoreUrls) -> None:
    assert "There is no role 'nobody'" in line.fails("migrate", "--server-role", "nobody")
    assert "--partitions" in line.fails("migrate", "--partitions", "-1", status=2)
    unnamed = blank.url.replace(f"{cluster().role}:{password(blank)}", "")
    assert "--server-role" in line.fails("migrate", "--url", unnamed, status=2)
    (line.folder / "owner").write_text("postgresql://ann:s3/cret@host/db")
    told = line.fails("migrate", "--admin-url-file", "owner", status=2)
    assert "The setting admin_url (--admin-url-file) cannot work" in told
    assert "s3" not in told
    told = line.fails("list", "--url", "postgresql://ann:s3cret@127.0.0.1:1/db")
    assert "No Postgres answers at '127.0.0.1:1'" in told


def test_a_store_that_migrates_by_itself_needs_nothing(line: CommandLine) -> None:
    assert line.ok("migrate").startswith("Nothing to do")
    assert line.json("migrate") == {"migrated": None}


@pytest.mark.parametrize("command", [("doctor",), ("doctor", "--json"), ("list", "--log-level", "DEBUG"), ("migrate",)])
def test_no_password_is_printed_or_logged(line: CommandLine, blank: StoreUrls, command: tuple[str, ...]) -> None:
    line.ok("migrate", "--partitions", "0")
    by_query = blank.url.replace(f":{password(blank)}@", "@") + f"&password={password(blank)}"
    for url in (blank.url, by_query, "postgresql://ann:s3cret@127.0.0.1:1/db?password=s3cret"):
        done = line.run(*command, "--url", url)
        assert password(blank) not in done.output
        assert "s3cret" not in done.output
        assert url not in done.output
