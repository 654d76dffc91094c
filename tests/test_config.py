"""Where settings come from, and what is said about those that cannot work."""

import re
from collections.abc import Callable
from pathlib import Path, PureWindowsPath

import platformdirs
import pytest

from mcp_memory_server.config import DEFAULT, Settings, default_actor_id, load_settings, unknown_variables
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.identity import actor_scope, project_scope

WriteFile = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in unknown_variables():
        monkeypatch.delenv(name)
    for name in (*Settings.model_fields, "config"):
        monkeypatch.delenv(f"MCP_MEMORY_{name.upper()}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def write_file() -> WriteFile:
    """Writes the default configuration file."""

    def write(text: str) -> Path:
        path = platformdirs.user_config_path("mcp-memory-server", appauthor=False) / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write


# --- precedence ---------------------------------------------------------------------------------------


def test_a_flag_goes_over_the_environment_over_the_file_over_the_default(
    monkeypatch: pytest.MonkeyPatch, write_file: WriteFile
) -> None:
    path = write_file("max_memories = 3\nmax_fact_chars = 100\njournal_days = 5\n")
    monkeypatch.setenv("MCP_MEMORY_MAX_MEMORIES", "4")
    monkeypatch.setenv("MCP_MEMORY_MAX_FACT_CHARS", "200")
    settings = load_settings({"max_memories": "5", "max_fact_chars": None})
    found = {name: (getattr(settings, name), settings.origin(name)) for name in Settings.model_fields}
    assert found["max_memories"] == (5, "--max-memories")
    assert found["max_fact_chars"] == (200, "MCP_MEMORY_MAX_FACT_CHARS")
    assert found["journal_days"] == (5, str(path))
    assert found["synchronous"] == ("FULL", DEFAULT)


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_can_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "7").write_text("memory://")  # for the settings that name a file with a URL
    values = {"url": "memory://", "synchronous": "normal", "log_level": "debug", "max_sensitivity": "SECRET"}
    values |= {"quarantine": "tool", "transport": "sse", "log_format": "JSON", "public_url": "https://memory.test/mcp"}
    values |= {"insecure": "true", "roles_required": "true", "max_body_bytes": "7000", "sessions": "None"}
    monkeypatch.setenv(f"MCP_MEMORY_{name.upper()}", values.get(name, "7"))
    settings = load_settings()
    assert settings.origin(name) == f"MCP_MEMORY_{name.upper()}"
    assert str(getattr(settings, name)) in {
        "memory://",
        "NORMAL",
        "DEBUG",
        "secret",
        "('7',)",
        "('tool',)",
        "('sse',)",
        "json",
        "none",
        "https://memory.test/mcp",
        "True",
        "7000",
        "7",
        "7.0",
        "**********",
    }


def test_what_waits_for_review_is_named_and_none_names_nothing() -> None:
    assert load_settings().quarantine == ("extraction", "reflection", "induction", "imported")
    assert load_settings({"quarantine": "tool, imported"}).quarantine == ("tool", "imported")
    assert load_settings({"quarantine": "none"}).quarantine == ()
    with pytest.raises(ConfigurationError, match="setting quarantine"):
        load_settings({"quarantine": "user"})


@pytest.mark.parametrize("blank", ["", " ", "\t"])
@pytest.mark.parametrize("name", [*sorted(Settings.model_fields), "config"])
def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch, name: str, blank: str) -> None:
    plain = load_settings()
    monkeypatch.setenv(f"MCP_MEMORY_{name.upper()}", blank)
    assert load_settings() == plain
    assert load_settings().origin(name) == DEFAULT


def test_an_empty_flag_takes_the_project_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_PROJECT", "apollo")
    assert load_settings({"project": ""}).project is None


def test_names_are_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_ACTOR", " Bob Smith ")
    assert load_settings().identity.id == "Bob Smith"


@pytest.mark.parametrize("source", ["flag", "variable"])
def test_another_file_can_be_named(
    monkeypatch: pytest.MonkeyPatch, write_file: WriteFile, tmp_path: Path, source: str
) -> None:
    write_file("max_memories = 3\n")
    (tmp_path / "own.toml").write_text("journal_days = 9\n")
    if source == "variable":
        monkeypatch.setenv("MCP_MEMORY_CONFIG", "~/own.toml")
        settings = load_settings()
    else:
        settings = load_settings({"config": "~/own.toml"})
    assert (settings.max_memories, settings.journal_days) == (20, 9)
    assert settings.origin("journal_days") == str(tmp_path / "own.toml")


def test_misspelt_variables_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_MAX_MEMORY", "5")
    assert unknown_variables() == ["MCP_MEMORY_MAX_MEMORY"]


# --- what cannot work ---------------------------------------------------------------------------------


def refusal(flags: dict[str, object] | None = None) -> str:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(flags)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "works"),
    [
        ("max_memories", "0", "1 to 200"),
        ("max_memories", "201", "1 to 200"),
        ("max_memories", "many", "1 to 200"),
        ("max_fact_chars", "-1", "1 to 10000"),
        ("busy_timeout_s", "inf", "0 to 600"),
        ("busy_timeout_s", "nan", "0 to 600"),
        ("synchronous", "OFF", "FULL or NORMAL"),
        ("log_level", "loud", "DEBUG, INFO"),
        ("journal_days", "0", "1 to 36500"),
        ("journal_digests", "0", "1 to 10000000"),
        ("actor", "x" * 300, "190 characters"),
        ("tenant", "x" * 300, "190 characters"),
        ("project", "x" * 300, "190 characters"),
    ],
)
def test_a_bad_value_is_told_with_its_setting_its_origin_and_what_would_work(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, works: str
) -> None:
    variable = f"MCP_MEMORY_{name.upper()}"
    monkeypatch.setenv(variable, value)
    message = refusal()
    assert f"{name} ({variable})" in message
    assert works in message
    assert len(message) < 400


def test_every_bad_value_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_JOURNAL_DAYS", "x")
    message = refusal({"max_memories": "x"})
    assert "journal_days (MCP_MEMORY_JOURNAL_DAYS)" in message
    assert "max_memories (--max-memories)" in message


@pytest.mark.parametrize("name", ["admin_url", "embedder_api_key", "selector_api_key", "state_keys"])
def test_a_secret_that_cannot_be_used_is_not_shown(write_file: WriteFile, name: str) -> None:
    write_file(f"{name} = 8241\n")
    assert f"The setting {name} (" in refusal()
    assert "8241" not in refusal().replace(str(platformdirs.user_config_path()), "")


def test_a_blank_actor_is_refused() -> None:
    assert "actor (--actor) is blank" in refusal({"actor": " "})


def test_actor_and_project_must_make_one_scope_together() -> None:
    message = refusal({"actor": "a" * 150, "project": "p" * 150})
    assert "actor and project" in message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("max_memory = 5", "'max_memory'"),
        ("config = 'x'", "'config'"),
        ("[server]\nmax_memories = 5", "'server'"),
        ("max_memories = true", "truth value"),
        ("max_memories = [1]", "max_memories"),
        ("actor = ''", "blank"),
        ("max_memories = ", "no TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_path(write_file: WriteFile, text: str, says: str) -> None:
    path = write_file(text)
    message = refusal()
    assert str(path) in message
    assert says in message


def test_a_file_that_is_no_utf8_is_refused(write_file: WriteFile) -> None:
    write_file("").write_bytes(b"actor = '\xff'")
    assert "UTF-8" in refusal()


@pytest.mark.parametrize("path", ["missing.toml", ".", "~nobody-has-this-name/x.toml", "\0", " "])
def test_a_named_file_must_be_readable(path: str) -> None:
    assert "--config" in refusal({"config": path})


def test_no_default_file_is_no_error_and_neither_is_a_home_that_is_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert load_settings().max_memories == 20


# --- the store's URL ----------------------------------------------------------------------------------


def test_the_default_store_is_in_the_users_data_directory_outside_the_package() -> None:
    url = load_settings().url
    assert url == f"sqlite:///{platformdirs.user_data_path('mcp-memory-server', appauthor=False) / 'memory.db'}"
    assert str(Path(__file__).parents[1]) not in url


@pytest.mark.parametrize(
    "url",
    ["sqlite:///$HOME/memory.db", "sqlite:///${HOME}/memory.db", "sqlite:////$HOME/m.db", r"sqlite:///%APPDATA%\m.db"],
)
def test_a_variable_that_no_shell_replaced_is_refused(url: str) -> None:
    assert "nothing expands" in refusal({"url": url})


@pytest.mark.parametrize("url", ["sqlite:///./$HOME/m.db", "sqlite:///a$b/m.db", "sqlite:///100%/m.db"])
def test_other_dollars_and_percents_belong_to_the_path(url: str) -> None:
    assert load_settings({"url": url}).url == url


@pytest.mark.parametrize(
    "path", [r"C:\Users\Anna Müller\memory.db", r"\\server\share\memory.db", "D:/memory/memory.db"]
)
def test_a_windows_path_is_kept_as_it_is(path: str) -> None:
    url = load_settings({"url": f"sqlite:///{path}"}).url
    assert PureWindowsPath(url.removeprefix("sqlite:///")).is_absolute()
    assert url == f"sqlite:///{path}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:s3:cr@t@host/db", "postgresql://ann:…@host/db"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann:s3/c?r#e&t@host/db", "postgresql://ann:…@host/db"),
        ("postgresql://ann:s3%2Fcr\n@t@host/db?sslmode=require", "postgresql://ann:…@host/db?sslmode=require"),
        ("postgresql://:s3cret@host/db", "postgresql://:…@host/db"),
        ("postgresql://host/db?user=ann&password=s3cret", "postgresql://host/db?user=ann&password=…"),
        ("postgresql://host/db?p%61ssword=s3cret&host=a", "postgresql://host/db?p%61ssword=…&host=a"),
        ("postgresql://host/db?sslpassword=s3cret&sslkey=k", "postgresql://host/db?sslpassword=…&sslkey=…"),
        ("other://host/db?token=s3cret", "other://host/db?token=…"),
        ("sqlite:///C:/a@b.db", "sqlite:///C:/a@b.db"),
        ("sqlite:///a?password=b", "sqlite:///a?password=b"),
        ("memory://", "memory://"),
    ],
)
def test_a_shown_url_holds_no_password(url: str, shown: str) -> None:
    assert load_settings({"url": url}).shown_url == shown


@pytest.mark.parametrize("name", ["url", "admin_url"])
def test_a_url_may_stand_in_a_file_as_containers_are_handed_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret").write_text("postgresql://ann:s3cret@host/db\n")
    monkeypatch.setenv(f"MCP_MEMORY_{name.upper()}_FILE", "~/secret")
    settings = load_settings()
    held = settings.url if name == "url" else settings.admin_url and settings.admin_url.get_secret_value()
    assert held == "postgresql://ann:s3cret@host/db"
    assert settings.origin(name) == f"MCP_MEMORY_{name.upper()}_FILE"
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in settings.model_dump_json(exclude={"url"})


def test_a_url_of_a_stronger_source_takes_the_place_of_a_file_and_the_other_way_round(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, write_file: WriteFile
) -> None:
    (tmp_path / "secret").write_text("postgresql://host/in-the-file")
    monkeypatch.setenv("MCP_MEMORY_URL_FILE", str(tmp_path / "secret"))
    write_file("url = 'memory://'\n")
    by_variable = load_settings()
    assert (by_variable.url, by_variable.origin("url")) == ("postgresql://host/in-the-file", "MCP_MEMORY_URL_FILE")
    by_flag = load_settings({"url": "memory://"})
    assert (by_flag.url, by_flag.origin("url")) == ("memory://", "--url")
    assert (by_flag.url_file, by_flag.origin("url_file")) == (None, DEFAULT)


def test_one_source_gives_a_url_or_a_file_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_URL", "postgresql://ann:s3cret@host/db")
    monkeypatch.setenv("MCP_MEMORY_URL_FILE", "secret")
    assert "url (MCP_MEMORY_URL) and url_file (MCP_MEMORY_URL_FILE) are both given: keep one." in refusal()
    assert "s3cret" not in refusal()


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "cannot be read: No such file"), ("", "alone on one line"), ("memory://\ns3cret", "alone on one line")],
)
def test_a_file_that_holds_no_url_is_told_without_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None, says: str
) -> None:
    if content is not None:
        (tmp_path / "secret").write_text(content)
    monkeypatch.setenv("MCP_MEMORY_ADMIN_URL_FILE", str(tmp_path / "secret"))
    assert "setting admin_url_file (MCP_MEMORY_ADMIN_URL_FILE)" in refusal()
    assert says in refusal()
    assert "s3cret" not in refusal()


# --- the actor ----------------------------------------------------------------------------------------


def test_the_default_actor_is_the_account_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pwd = pytest.importorskip("pwd")
    monkeypatch.setattr("os.getuid", lambda: 4711)
    account = pwd.struct_passwd(("ann", "x", 4711, 4711, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", {4711: account}.__getitem__)
    monkeypatch.setenv("USER", "somebody-else")
    assert default_actor_id() == "ann"


def test_without_an_account_the_environment_names_the_actor_and_else_the_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pwd = pytest.importorskip("pwd")

    def no_entry(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    monkeypatch.setattr("os.getuid", lambda: 4711, raising=False)
    for name in ("USERNAME", "LOGNAME", "USER"):
        monkeypatch.delenv(name, raising=False)
    assert default_actor_id() == "uid-4711"
    monkeypatch.setenv("USERNAME", r"CORP\Anna Müller")
    assert default_actor_id() == r"CORP\Anna Müller"


def test_where_there_are_no_accounts_there_is_still_an_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.getuid", raising=False)
    for name in ("USERNAME", "LOGNAME", "USER"):
        monkeypatch.delenv(name, raising=False)
    assert default_actor_id() == "user"


@pytest.mark.parametrize("name", [r"CORP\anna", "Anna Müller", "o'brien", "名前", "a#b", "a[b]"])
def test_any_user_name_makes_a_scope(name: str) -> None:
    settings = load_settings({"actor": name, "project": name})
    assert re.fullmatch(r"\S+", actor_scope(settings.identity))
    assert project_scope(settings.identity, name).startswith(actor_scope(settings.identity) + "#")
    assert settings.context().actor.id == name
