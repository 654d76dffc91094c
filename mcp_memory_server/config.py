"""Settings: a flag over an environment variable over the configuration file over a default.

They are read once, by `load_settings`, and passed on as one frozen value that knows where each part came from.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import platformdirs
from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from .errors import ConfigurationError, InvalidInput, echo
from .identity import Actor, RequestContext, check_scope, project_scope
from .network import NetworkSettings
from .setting_forms import NUMBER, Names, OptionalName, blank_is_none, lower, split, upper
from .store_urls import FROM_FILES, shown, with_files_read

APP_NAME: Final = "mcp-memory-server"
ENV_PREFIX: Final = "MCP_MEMORY_"
DEFAULT: Final = "default"
"""The origin of a value that nobody set."""

# A shell would have replaced these; most hosts that start servers have none.
_UNEXPANDED = re.compile(r"sqlite:///+(\$\w+|\$\{\w+\}|%\w+%)(?=[/\\]|$)")

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


def _none_is_empty(value: object) -> object:
    """`none` names nothing: a blank variable counts as not set, and so could not say it."""
    return () if value == ("none",) else value


def default_url() -> str:
    """A store in the user's data directory, which no update of this package touches."""
    folder = platformdirs.user_data_dir(APP_NAME, appauthor=False)
    return f"sqlite:///{os.path.join(folder, 'memory.db')}"


def export_key_file() -> Path:
    """The key by which this machine knows its own exports again; made at the first one."""
    return Path(platformdirs.user_data_dir(APP_NAME, appauthor=False), "export.key")


def default_config_file() -> Path:
    return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False), "config.toml")


def default_actor_id() -> str:
    """The name of the user whose process this is; never blank.

    The account database goes first: a variable such as USER differs between a terminal and what a host starts,
    and another name would be another memory. Containers run under numbers that have no account.
    """
    names: list[Callable[[], str]] = [_account_name]
    names += [lambda variable=variable: os.environ.get(variable, "") for variable in ("USERNAME", "LOGNAME", "USER")]
    for name in names:
        # Names in other encodings arrive with halves of surrogate pairs in them.
        if found := name().encode(errors="replace").decode().strip():
            return found
    return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "user"


def _account_name() -> str:
    try:
        import pwd  # noqa: PLC0415  # there is none on Windows

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, AttributeError, KeyError):
        return ""


class Settings(NetworkSettings):
    """What the server, the command line and the demo run with. A field's description says which values work."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    url: str = Field(
        default_factory=default_url,
        repr=False,
        description="a store URL such as sqlite:///~/memory.db, postgresql://host/database or memory://",
    )
    url_file: OptionalName = Field(default=None, description="the path of a file that holds the URL, or nothing")
    admin_url: Annotated[SecretStr | None, BeforeValidator(blank_is_none)] = Field(
        default=None, description="a postgresql:// URL of the role that owns the tables, or nothing"
    )
    admin_url_file: OptionalName = Field(default=None, description="the path of a file that holds that URL, or nothing")
    actor: str = Field(default_factory=default_actor_id, description="a name of 1 to about 190 characters")
    roles: Names = Field(default=(), description="roles such as memory:reviewer, separated by commas, or nothing")
    tenant: OptionalName = Field(
        default=None, description="the id of an organisation, of at most about 190 characters, or nothing"
    )
    project: OptionalName = Field(
        default=None, description="the name of a project, at most about 190 characters with the actor, or nothing"
    )
    max_memories: Annotated[int, NUMBER] = Field(default=20, ge=1, le=200, description="a whole number from 1 to 200")
    max_fact_chars: Annotated[int, NUMBER] = Field(
        default=240, ge=1, le=10_000, description="a whole number from 1 to 10000"
    )
    toolsets: Names = Field(default=(), description="names of toolsets, separated by commas, or nothing")
    max_sensitivity: Annotated[Literal["public", "internal", "secret"], BeforeValidator(lower)] = Field(
        default="internal", description="public, internal or secret"
    )
    promote_after: Annotated[int, NUMBER] = Field(
        default=3, ge=1, le=1_000, description="a whole number from 1 to 1000"
    )
    max_records: Annotated[int, NUMBER] = Field(
        default=0, ge=0, le=10_000_000, description="a whole number from 0, for no limit, to 10000000"
    )
    quarantine: Annotated[
        tuple[Literal["tool", "extraction", "reflection", "induction", "imported"], ...],
        NoDecode,
        BeforeValidator(_none_is_empty),
        BeforeValidator(split),
    ] = Field(
        default=("extraction", "reflection", "induction", "imported"),
        description="some of tool, extraction, reflection, induction and imported, separated by commas, or none",
    )
    busy_timeout_s: Annotated[float, NUMBER] = Field(
        default=5.0, ge=0, le=600, allow_inf_nan=False, description="seconds from 0 to 600"
    )
    statement_timeout_s: Annotated[float, NUMBER] = Field(
        default=30.0, ge=1, le=3600, allow_inf_nan=False, description="seconds from 1 to 3600"
    )
    pool_size: Annotated[int, NUMBER] = Field(default=10, ge=2, le=1_000, description="a whole number from 2 to 1000")
    synchronous: Annotated[Literal["FULL", "NORMAL"], BeforeValidator(upper)] = Field(
        default="FULL", description="FULL or NORMAL"
    )
    log_level: Annotated[LogLevel, BeforeValidator(upper)] = Field(
        default="INFO", description="DEBUG, INFO, WARNING, ERROR or CRITICAL"
    )
    journal_days: Annotated[int, NUMBER] = Field(
        default=30, ge=1, le=36_500, description="a whole number from 1 to 36500"
    )
    journal_digests: Annotated[int, NUMBER] = Field(
        default=10_000, ge=1, le=10_000_000, description="a whole number from 1 to 10000000"
    )

    language: Annotated[str | None, BeforeValidator(blank_is_none)] = Field(
        default=None, description="a language such as german, or nothing to detect each text's own"
    )
    embedder: OptionalName = Field(
        default=None, description="onnx:FOLDER, model2vec:FOLDER, fastembed:NAME, openai:MODEL@BASE_URL, or nothing"
    )
    embedder_api_key: SecretStr | None = Field(default=None, description="the key of an embedding service, or nothing")
    selector: OptionalName = Field(default=None, description="openai:MODEL@BASE_URL, or nothing")
    selector_api_key: SecretStr | None = Field(default=None, description="the key of that service, or nothing")
    selector_timeout_s: Annotated[float, NUMBER] = Field(
        default=5.0, gt=0, le=60, allow_inf_nan=False, description="seconds above 0 and up to 60"
    )
    selective_over: Annotated[int, NUMBER] = Field(
        default=200, ge=0, le=1_000, description="a whole number from 0 to 1000"
    )
    token_estimator: OptionalName = Field(default=None, description="chars:N, tokenizer:FILE, or nothing")

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict[str, str])

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the caller gives: `load_settings` asks the sources, and notes which one answered."""
        return (init_settings,)

    @field_validator("url")
    @classmethod
    def _has_no_variable(cls, url: str) -> str:
        if found := _UNEXPANDED.match(url):
            raise ValueError(f"begins with {found[1]}, which nothing expands; write ~ or the whole path")
        return url

    @field_validator("actor", "tenant", "project")
    @classmethod
    def _makes_a_scope(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is None:
            return None
        name = name.strip()
        try:
            if info.field_name == "tenant":
                Actor("someone", tenant_id=name)
            else:
                Actor(name)
        except InvalidInput as error:
            raise ValueError("; ".join(problem.fault for problem in error.problems)) from None
        return name

    @classmethod
    def of(cls, values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
        """Settings of these values, which came from `origins`, and of defaults."""
        settings = cls(**values)
        settings._origins = origins
        return settings

    @property
    def identity(self) -> Actor:
        """The actor on whose behalf everything runs over stdio and on the command line."""
        return Actor(self.actor, self.tenant, frozenset(self.roles))

    def context(self, thread_id: str | None = None) -> RequestContext:
        """A request of the configured actor in the configured project."""
        return RequestContext(self.identity, self.project, thread_id)

    @property
    def shown_url(self) -> str:
        """The store's URL as it may be printed and logged: without what could be a password."""
        return shown(self.url)

    def origin(self, name: str) -> str:
        """Where a setting's value came from: a flag, a variable or a file by name, or `DEFAULT`."""
        return self._origins.get(name, DEFAULT)


def load_settings(flags: Mapping[str, object] | None = None) -> Settings:
    """The settings in force. `flags` are those given on the command line, by setting; None means not given.

    `config` among them, or `MCP_MEMORY_CONFIG`, names the configuration file; it must exist then.

    Raises:
        ConfigurationError: a value that cannot work, an unknown name in the file, or a file that cannot be read.
            It names every wrong setting, its origin and what would work.
    """
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    merged, origins = _merged(_layers(given))
    try:
        settings = Settings.of(merged, origins)
        if settings.project is not None:
            check_scope(project_scope(settings.identity, settings.project))
    except ValidationError as error:
        raise ConfigurationError(_explain(error, origins)) from None
    except InvalidInput as error:
        raise ConfigurationError(f"The settings actor and project make no scope together: {error}") from None
    return settings


_Layer = tuple[Callable[[str], str], Mapping[str, Any]]


def _layers(given: dict[str, object]) -> list[_Layer]:
    """The values of each source and how it is called, the weakest source first."""
    explicit = given.pop("config", None)
    explicit_origin = "--config"
    if explicit is None:
        explicit, explicit_origin = os.environ.get(f"{ENV_PREFIX}CONFIG", "").strip() or None, f"{ENV_PREFIX}CONFIG"
    path = default_config_file() if explicit is None else _expanded(str(explicit), explicit_origin)
    in_file = _read_file(path, None if explicit is None else explicit_origin)
    found = EnvSettingsSource(Settings)()
    in_environment = {name: value for name, value in found.items() if not (isinstance(value, str) and value.isspace())}
    return [
        (lambda name: str(path), in_file),
        (lambda name: f"{ENV_PREFIX}{name.upper()}", in_environment),
        (lambda name: f"--{name.replace('_', '-')}", given),
    ]


def _merged(layers: Sequence[_Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values in force, and where each came from."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin_of, values in layers:
        called = {name: origin_of(name) for name in values}
        read = with_files_read(values, called)
        # A URL takes the place of a weaker source's, whether that one gave it or named a file with it.
        for by_file in (FROM_FILES[name] for name in FROM_FILES.keys() & read.keys()):
            merged.pop(by_file, None)
            origins.pop(by_file, None)
        merged |= read
        origins |= {name: called[name] if name in called else called[FROM_FILES[name]] for name in read}
    return merged, origins


def _expanded(path: str, origin: str) -> Path:
    if not path.strip():
        raise ConfigurationError(f"The setting config ({origin}) is blank; give the path of a TOML file.")
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ConfigurationError(
            f"The setting config ({origin}) names a home folder that does not exist: {echo(path)}."
        ) from None


def _read_file(path: Path, asked_by: str | None) -> Mapping[str, Any]:
    """The settings in the configuration file; none where there is no file and nobody asked for one."""
    # Also a folder that may not be entered counts as no file: services often run without a home of their own.
    if asked_by is None and not os.path.exists(path):
        return {}
    where = f"The configuration file {path}" + (f" ({asked_by})" if asked_by else "")
    try:
        values = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise ConfigurationError(f"{where} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{where} is no TOML in UTF-8: {error}.") from None
    except ValueError:  # a NUL in the path
        raise ConfigurationError(f"{where} has a path that no file can have.") from None
    if unknown := sorted(values.keys() - Settings.model_fields.keys()):
        known = ", ".join(Settings.model_fields)
        raise ConfigurationError(f"{where} has unknown settings: {', '.join(map(echo, unknown))}. Known: {known}.")
    return values


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    """One sentence for each wrong setting. Values of `url` are not shown, as a URL may hold a password; nor secrets."""
    sentences: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        name = str(fault["loc"][0])
        if fault["type"] == "value_error":
            wrong = str(fault.get("ctx", {}).get("error"))
        else:
            wrong = "cannot be used" if name == "url" or is_secret(name) else f"is {echo(fault['input'])}"
        works = Settings.model_fields[name].description if name in Settings.model_fields else "leave it out"
        sentences[name] = f"The setting {name} ({origins.get(name, DEFAULT)}) {wrong}: give {works}."
    return " ".join(sentences.values())


def is_secret(name: str) -> bool:
    """Whether a setting's value is shown nowhere, and so has no flag: others on a machine can read command lines."""
    return name in Settings.model_fields and SecretStr in get_args(Settings.model_fields[name].annotation)


def unknown_variables() -> list[str]:
    """Variables with our prefix that name no setting: most likely misspelt."""
    known = {f"{ENV_PREFIX}{name.upper()}" for name in (*Settings.model_fields, "config")}
    return sorted(name for name in os.environ if name.startswith(ENV_PREFIX) and name not in known)
