"""How the demo's scenes look: with rich where it is installed, else as plain text."""

from __future__ import annotations

from collections.abc import Callable

import click

from mcp_memory_server.client.demo import Scene

View = Callable[[Scene], None]


def best_view() -> View:
    """rich comes with the extra `demo`; nothing else in this package imports it."""
    try:
        return _rich_view()
    except ImportError:
        return _plain


def _plain(scene: Scene) -> None:
    click.echo(f"== {scene.title}\n   > {scene.call}\n")
    click.echo("\n".join(f"   {line}" if scene.form != "json" else line for line in scene.outcome.splitlines()) + "\n")


def _rich_view() -> View:
    from rich.console import Console  # noqa: PLC0415  # an optional dependency
    from rich.padding import Padding  # noqa: PLC0415
    from rich.panel import Panel  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console()

    def view(scene: Scene) -> None:
        console.rule()
        console.print(Text(scene.title, style="bold"))  # wrapped: a rule would cut it
        console.print(Padding(Text(f"> {scene.call}", style="cyan"), (0, 0, 1, 2)))
        match scene.form:
            case "block":
                console.print(Panel(Text(scene.outcome), border_style="green", padding=(0, 1)))
            case "json":
                # Neither indented nor framed: it is there to be copied.
                console.print(Text(scene.outcome), soft_wrap=True)
            case "text":
                console.print(Padding(Text(scene.outcome), (0, 0, 0, 2)))
        console.print()

    return view
