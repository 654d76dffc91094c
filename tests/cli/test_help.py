"""The help: complete, and one with what each command says of itself."""

import click
import pytest

from mcp_memory_server.cli import FAMILIES, commands
from mcp_memory_server.cli.flags import NETWORK_FLAGS, setting_flags
from mcp_memory_server.config import Settings, is_secret
from mcp_memory_server.network import NetworkSettings

from .conftest import CommandLine

SUMMARIES = {name: summary for family in FAMILIES.values() for name, (_, summary) in family.items()}


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_summary_of_a_command_is_its_own_first_sentence(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").splitlines()[0] == SUMMARIES[name]


FLAGS = {"config", "json", *(name for name in Settings.model_fields if not is_secret(name))} - {*NETWORK_FLAGS}
"""Every setting but the secrets, since others on a machine can read command lines, and but what only `serve` reads."""


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_takes_every_flag_of_the_settings(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    flags = {parameter.name for parameter in command.params}
    assert flags >= FLAGS


def test_serve_takes_the_flags_of_the_network_too() -> None:
    command = commands.get_command(click.Context(commands), "serve")
    assert command is not None
    flags = {parameter.name for parameter in command.params}
    assert flags == FLAGS | {name for name in NetworkSettings.model_fields if not is_secret(name)}


def test_every_setting_has_a_flag_and_the_other_way_round() -> None:
    @setting_flags(hidden=False)
    def probe() -> None: ...

    flags = {parameter.name for parameter in click.command(probe).params}
    assert flags == FLAGS


def test_the_help_lists_every_command(line: CommandLine) -> None:
    shown = line.ok("--help")
    for name, summary in SUMMARIES.items():
        assert f"  {name} " in shown
        assert summary in " ".join(shown.split())


def test_an_unknown_command_is_wrong_usage(line: CommandLine) -> None:
    message = line.fails("memorise", status=2)
    assert "No such command 'memorise'." in message
    assert "Did you mean" not in message


@pytest.mark.parametrize(("typed", "meant"), [("forgt", "forget"), ("lst", "list"), ("check_regex", "check-regex")])
def test_an_unknown_command_brings_the_nearest(line: CommandLine, typed: str, meant: str) -> None:
    assert f"Did you mean '{meant}'?" in line.fails(typed, status=2)
