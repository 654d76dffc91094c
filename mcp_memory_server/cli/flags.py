"""Flags that every command takes: one for each setting, and `--json`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_SETTINGS: Final = (
    # (setting, placeholder, help). Values are checked by `config.load_settings`, whatever source they have. The
    # one secret has no flag: other users of a machine can read command lines.
    ("url", "URL", "The store, such as sqlite:///~/memory.db or memory://; an absolute path has four slashes."),
    ("actor", "NAME", "On whose behalf to act; default: the operating-system user."),
    ("roles", "NAMES", "Roles of the actor, separated by commas, such as memory:reviewer."),
    ("tenant", "ID", "The organisation of the actor."),
    ("project", "NAME", "The project to work in."),
    ("max_memories", "N", "Facts in a digest at most, 1 to 200; default: 20."),
    ("max_fact_chars", "N", "Characters of a fact at most; default: 240."),
    ("toolsets", "NAMES", "Further tools to serve, separated by commas; default: none."),
    ("max_sensitivity", "LEVEL", "public, internal (default) or secret: what recall shows at most."),
    ("promote_after", "N", "Successes after which an induced rule needs no review; default: 3."),
    ("quarantine", "NAMES", "Which provenances wait for review; default: extraction,reflection,induction,imported."),
    ("busy_timeout_s", "SECONDS", "How long to wait for another process's lock; default: 5."),
    ("synchronous", "LEVEL", "FULL: a write survives a power cut (default). NORMAL: it survives a crash."),
    ("log_level", "LEVEL", "DEBUG, INFO, WARNING, ERROR or CRITICAL."),
    ("journal_days", "N", "How long shown digests can be replayed; default: 30."),
    ("journal_digests", "N", "How many shown digests are kept; default: 10000."),
    ("language", "NAME", "The language of all facts and questions, such as german; default: detected for each."),
    ("embedder", "NAME", "onnx:FOLDER, model2vec:FOLDER, fastembed:NAME or openai:MODEL@BASE_URL; default: none."),
    ("config", "FILE", "A TOML file of settings."),
)


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
