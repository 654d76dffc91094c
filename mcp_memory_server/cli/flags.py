"""Flags that every command takes: one for each setting, and `--json`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_SETTINGS: Final = (
    # (setting, placeholder, help). Values are checked by `config.load_settings`, whatever source they have. The
    # secrets have no flags: other users of a machine can read command lines.
    ("url", "URL", "The store, such as sqlite:///~/memory.db, with four slashes if absolute, or postgresql://host/db."),
    ("url_file", "FILE", "A file with that URL, as secrets are handed to containers."),
    ("admin_url_file", "FILE", "A file with the URL of a Postgres store's owner, for migrate."),
    ("actor", "NAME", "On whose behalf to act; default: the operating-system user."),
    ("roles", "NAMES", "Roles of the actor, separated by commas, such as memory:reviewer."),
    ("tenant", "ID", "The organisation of the actor."),
    ("project", "NAME", "The project to work in."),
    ("max_memories", "N", "Facts in a digest at most, 1 to 200; default: 20."),
    ("max_fact_chars", "N", "Characters of a fact at most; default: 240."),
    ("toolsets", "NAMES", "Further tools to serve, separated by commas; default: none."),
    ("max_sensitivity", "LEVEL", "public, internal (default) or secret: what recall shows at most."),
    ("promote_after", "N", "Successes after which an induced rule needs no review; default: 3."),
    ("max_records", "N", "Facts at a scope that maintain leaves, 0 for any number; default: 0."),
    ("quarantine", "NAMES", "Which provenances wait for review; default: extraction,reflection,induction,imported."),
    ("busy_timeout_s", "SECONDS", "How long to wait for another process's lock; default: 5."),
    ("statement_timeout_s", "SECONDS", "How long Postgres may work on a statement; default: 30."),
    ("pool_size", "N", "Connections to Postgres at most; default: 10."),
    ("synchronous", "LEVEL", "FULL: a write survives a power cut (default). NORMAL: it survives a crash."),
    ("log_level", "LEVEL", "DEBUG, INFO, WARNING, ERROR or CRITICAL."),
    ("journal_days", "N", "How long shown digests can be replayed; default: 30."),
    ("journal_digests", "N", "How many shown digests are kept; default: 10000."),
    ("language", "NAME", "The language of all facts and questions, such as german; default: detected for each."),
    ("embedder", "NAME", "onnx:FOLDER, model2vec:FOLDER, fastembed:NAME or openai:MODEL@BASE_URL; default: none."),
    ("selector", "NAME", "The model that picks notes, openai:MODEL@BASE_URL; default: the store's search."),
    ("selector_timeout_s", "SECONDS", "How long it may take before the whole block is shown; default: 5."),
    ("selective_over", "N", "Up to so many notes selective recall shows all at once; default: 200."),
    ("token_estimator", "NAME", "What counts tokens, chars:N or tokenizer:FILE; default: an estimate that errs high."),
    ("config", "FILE", "A TOML file of settings."),
)

_NETWORK: Final = (
    ("transport", "NAME", "stdio (default), streamable-http, sse, or streamable-http,sse."),
    ("host", "ADDRESS", "Where to listen; default: 127.0.0.1, which only this machine can reach."),
    ("port", "N", "Default: 8000; 0 takes any that is free and logs it."),
    ("public_url", "URL", "The address that clients use, such as https://memory.example.com/mcp."),
    ("allowed_host", "NAME...", "What the Host header may say; default: this machine, and the host of --public-url."),
    ("allowed_origin", "ORIGIN...", "Web pages that may connect, such as https://chat.example.com."),
    ("insecure", None, "Serve beyond this machine without asking callers who they are."),
    ("token_file", "FILE", "Tokens that let callers in; see the command token."),
    ("jwt_issuer", "URL", "Whose access tokens let callers in."),
    ("jwt_keys_url", "URL", "Where that issuer's keys are (JWKS)."),
    ("jwt_audience", "NAME", "What tokens call this server; default: --public-url."),
    ("jwt_algorithms", "NAMES", "How tokens may be signed; default: RS256,ES256,EdDSA."),
    ("jwt_leeway_s", "SECONDS", "How far clocks may differ; default: 30."),
    ("actor_claim", "NAME", "The claim that names the actor; default: sub."),
    ("tenant_claim", "NAME", "The claim that names their organisation; default: tenant."),
    ("roles_claim", "NAME", "The claim that names their roles, such as realm_access.roles; default: roles."),
    ("required_scopes", "NAMES", "OAuth scopes without which a token lets nobody in."),
    ("roles_required", None, "Allow nothing to those whose token names no role."),
    ("state_keys_file", "FILE", "Keys that servers behind one address share, one a line; default: each has its own."),
    ("max_body_bytes", "N", "Bytes of a request at most; default: 1048576."),
    ("request_timeout_s", "SECONDS", "How long a request may take; default: 30."),
    ("requests_per_minute", "N", "How many a caller may send, 0 for any number; default: 1200."),
    ("sessions", "auto|kept|none", "Sessions of older clients; default: kept, unless the store is a Postgres."),
    ("max_sessions", "N", "Sessions at once; default: 1000."),
    ("log_format", "FORMAT", "text (default) or json."),
)
"""Flags of `serve` alone. Those without a placeholder are switches."""

_REPEATABLE: Final = frozenset({"allowed_host", "allowed_origin"})

NETWORK_FLAGS: Final = tuple(name for name, _, _ in _NETWORK)


@dataclass(slots=True)
class Flags:
    """What stood on the command line, before or after the command."""

    settings: dict[str, object] = field(default_factory=dict[str, object])
    json: bool = False

    @classmethod
    def of(cls, ctx: click.Context) -> Flags:
        return ctx.find_root().ensure_object(cls)


def _keep_setting(ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    if value is not None:
        Flags.of(ctx).settings[str(parameter.name)] = value


def _keep_all(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    """Each of them may be a name, or several with commas between."""
    _keep_setting(ctx, parameter, ",".join(values) or None)


def _keep_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    Flags.of(ctx).json |= value


def setting_flags(*, hidden: bool) -> Callable[[F], F]:
    """Add a flag for each setting, and `--json`; commands hide them, since the program's own help lists them."""

    def decorate(function: F) -> F:
        for name, placeholder, text in reversed(_SETTINGS):
            function = click.option(
                f"--{name.replace('_', '-')}",
                name,
                metavar=placeholder,
                help=text,
                hidden=hidden,
                expose_value=False,
                callback=_keep_setting,
            )(function)
        return click.option(
            "--json",
            is_flag=True,
            help="Print JSON, for programs.",
            hidden=hidden,
            expose_value=False,
            callback=_keep_json,
        )(function)

    return decorate


def network_flags(*names: str) -> Callable[[F], F]:
    """Add the flags of these settings, shown in the command's help; those of every network setting by default."""

    def decorate(function: F) -> F:
        for name, placeholder, text in reversed(_NETWORK):
            if not names or name in names:
                function = click.option(
                    f"--{name.replace('_', '-')}",
                    name,
                    help=text,
                    expose_value=False,
                    callback=_keep_all if name in _REPEATABLE else _keep_setting,
                    **_shape(name, placeholder),
                )(function)
        return function

    return decorate


def _shape(name: str, placeholder: str | None) -> dict[str, Any]:
    if placeholder is None:
        return {"is_flag": True, "default": None}
    return {"metavar": placeholder, "multiple": name in _REPEATABLE}
