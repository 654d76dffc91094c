"""Who may import whom: the tree is the architecture, and imports point one way."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final, TypeGuard

import pytest

import mcp_memory_server

PACKAGE: Final = "mcp_memory_server"
ROOT: Final = Path(mcp_memory_server.__file__).parent
VALUES: Final = frozenset({"errors", "records", "identity", "digest"})

MAY_IMPORT: Final[dict[str, frozenset[str]]] = {
    "errors": frozenset({"screening"}),
    "records": frozenset({"errors"}),
    "identity": frozenset({"errors"}),
    "policy": frozenset({"errors", "identity", "records"}),
    "kinds": frozenset({"errors", "records"}),
    "derived": frozenset(),
    "digest": frozenset({"derived", "records"}),
    "block": frozenset({"derived", "digest", "identity", "records"}),
    "similarity": frozenset({"records"}),
    "upkeep": frozenset({"digest", "kinds", "policy", "ranking", "records", "similarity"}),
    "background": frozenset(),
    "regexsafety": frozenset(),
    "screening": frozenset(),
    "ranking": frozenset(),
    "embedding": frozenset({"errors", "ranking"}),
    "recall": VALUES | {"block"},
    "selecting": frozenset({"errors", "recall"}),
    "estimating": frozenset({"errors", "recall"}),
    "providers": VALUES | {"background", "derived", "embedding", "ranking"},
    "exchange": VALUES | {"kinds"},
    "service": VALUES
    | {
        *("background", "block", "derived", "embedding", "kinds", "policy", "providers", "recall", "screening"),
        *("similarity", "upkeep"),
    },
    "setting_forms": frozenset(),
    "setting_files": frozenset({"errors"}),
    "store_urls": frozenset({"errors", "setting_files"}),
    "network": frozenset({"setting_forms"}),
    "config": frozenset({"errors", "identity", "network", "setting_forms", "store_urls"}),
    "opening": VALUES | {"config", "embedding", "estimating", "providers", "recall", "selecting", "service"},
    "server": VALUES
    | {
        *("background", "block", "config", "derived", "kinds", "network", "opening", "policy", "providers"),
        *("recall", "regexsafety", "service", "setting_files"),
    },
    "client": frozenset({"config", "errors", "opening"}),
    "console": VALUES | {"block", "config", "opening", "service"},
    "cli": VALUES
    | {"client", "config", "console", "exchange", "kinds", "opening", "policy", "providers", "recall", "regexsafety"}
    | {"server", "service", "upkeep"},
    "__main__": frozenset({"cli"}),
    "__init__": VALUES | {"block", "policy", "providers", "server", "service"},
}
"""By part (a module or folder of the package): the parts that it may import. A new part is declared here first."""

SEAM_ONLY: Final = frozenset({"service", "server", "cli"})
"""Parts that know providers as `providers` and `providers.base`, never one of them."""

HOMES: Final[dict[str, tuple[str, ...]]] = {
    "mcp": ("server/", "client/"),
    "mcp_types": ("server/", "client/"),
    "starlette": ("server/", "console/"),
    "uvicorn": ("server/", "console/"),
    "sse_starlette": ("server/",),
    "jwt": ("server/auth/",),
    "opentelemetry": ("server/",),
    "aiosqlite": ("providers/sqlite/",),
    "sqlite3": ("providers/sqlite/",),
    "asyncpg": ("providers/postgres/",),
    "tenacity": ("providers/postgres/",),
    "psycopg": ("providers/postgres/",),
    "numpy": ("ranking/", "embedding/", "providers/contract/"),
    "snowballstemmer": ("ranking/",),
    "redact_secret": ("screening/",),
    "onnxruntime": ("embedding/",),
    "httpx2": ("embedding/", "selecting/", "server/auth/"),
    "click": ("cli/",),
    "rich": ("cli/", "client/"),
    "pydantic_settings": ("config.py", "network.py", "setting_forms.py"),
    "platformdirs": ("config.py",),
}
"""Where a dependency may be imported. Every other file has to do without it."""

PURE: Final = (
    "errors.py", "records.py", "identity.py", "policy.py", "digest.py", "block/", "kinds/", "similarity.py", "recall/",
    "upkeep.py",
    "ranking/", "providers/base/", "providers/rows.py", "providers/versions.py", "providers/key_order.py",
    "providers/entity_names.py", "providers/held.py", "providers/shown.py", "providers/signatures.py",
    "providers/timeline.py",
    "regexsafety/", "screening/",
)  # fmt: skip
"""Values to values: no I/O, no clock, no chance, no loop."""

TIMED: Final = {"regexsafety/lines.py": {"time"}}
"""What a pure folder holds all the same: the protocol that tells the time each answer took."""

IMPURE: Final = {
    "aiosqlite", "anyio", "asyncio", "http", "io", "logging", "multiprocessing", "os", "pathlib", "platform", "random",
    "secrets", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time",
    "urllib.request", "uuid", "uuid6",
}  # fmt: skip

PRINTS: Final = ("cli/", "client/demo.py")


@dataclass(frozen=True)
class Imported:
    """One module that a file of the package imports, wherever in the file that stands."""

    path: str
    module: str

    @property
    def part(self) -> str:
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def own(self) -> str | None:
        """The module's name inside this package; None for any other package."""
        name, _, inside = self.module.partition(".")
        return inside if name == PACKAGE else None


@cache
def sources() -> dict[str, ast.Module]:
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_bytes()) for path in sorted(ROOT.rglob("*.py"))}


@cache
def imports() -> tuple[Imported, ...]:
    return tuple(Imported(path, module) for path, tree in sources().items() for module in _modules(path, tree))


def _modules(path: str, tree: ast.Module) -> Iterator[str]:
    folder = [PACKAGE, *path.split("/")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from . import x` and `from package import x` import the module x where there is one.
            yield from (f"{module}.{alias.name}" for alias in node.names) if _is_folder(module) else (module,)


def _is_folder(module: str) -> bool:
    name, *inside = module.split(".")
    return name == PACKAGE and ROOT.joinpath(*inside).is_dir()


def _part(own: str) -> str:
    return own.partition(".")[0] or "__init__"


def test_every_part_says_what_it_imports() -> None:
    assert {name.split("/")[0].removesuffix(".py") for name in sources()} <= set(MAY_IMPORT)


def test_imports_point_one_way() -> None:
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        if found.own is not None and _part(found.own) not in MAY_IMPORT[found.part] | {found.part}
    ]
    assert not wrong


def test_only_the_providers_themselves_and_their_opening_know_one_by_name() -> None:
    concrete = ("providers.sqlite", "providers.in_memory", "providers.postgres", "providers.contract")
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        if found.part in SEAM_ONLY and (found.own or "").startswith(concrete)
    ]
    assert not wrong


def test_one_provider_does_not_import_another() -> None:
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        for one, other in (("sqlite", "postgres"), ("postgres", "sqlite"))
        if found.path.startswith(f"providers/{one}/") and (found.own or "").startswith(f"providers.{other}")
    ]
    assert not wrong


def test_every_dependency_has_one_home() -> None:
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        if not found.path.startswith(HOMES.get(found.module.split(".")[0], ("",)))
    ]
    assert not wrong


def test_the_regex_checker_needs_nothing_but_the_standard_library() -> None:
    """So no version of a dependency can break it, and .ci/run tests it with one of each."""
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        if found.path.startswith("regexsafety/")
        and found.module.split(".")[0] not in sys.stdlib_module_names
        and not found.module.startswith(f"{PACKAGE}.regexsafety")
    ]
    assert not wrong


def test_pure_files_import_no_io_no_clock_and_no_chance() -> None:
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        if found.path.startswith(PURE)
        and {found.module, found.module.split(".")[0]} & (IMPURE - TIMED.get(found.path, set()))
    ]
    assert not wrong


def test_only_the_settings_read_the_environment() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "environb"} and path != "config.py"
    ]
    assert not wrong


def test_only_the_command_line_prints_and_exits() -> None:
    calls = {"print", "exit", "quit", "input", "breakpoint"}
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in calls
        and not path.startswith(PRINTS)
    ]
    assert not wrong


def test_no_foreign_pattern_is_compiled() -> None:
    """`re` backtracks. A pattern is a literal, or at least made while a module loads, before anybody is heard."""
    engines = {"jsonschema", "fastjsonschema", "regex", "sre_compile", "sre_parse"}
    wrong = [f"{found.path} imports {found.module}" for found in imports() if found.module.split(".")[0] in engines]
    for path, tree in sources().items():
        wrong += [f"{path}:{node.lineno}" for node in ast.walk(tree) if _renames_re(node)]
        wrong += [f"{path}:{call.lineno}" for call in _calls_of_re(tree) if not isinstance(call.args[0], ast.Constant)]
    assert not wrong


def _renames_re(node: ast.AST) -> TypeGuard[ast.Import | ast.ImportFrom]:
    """Whether `re` comes under a name that the rule does not look for."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "re"
    return isinstance(node, ast.Import) and any(alias.name == "re" and alias.asname for alias in node.names)


def _calls_of_re(tree: ast.Module) -> Iterator[ast.Call]:
    """Calls of functions of `re` inside functions, where arguments may be anyone's."""
    functions = (
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    )
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr != "escape":
                yield node


def test_the_rules_above_would_notice() -> None:
    """A check that looks at nothing passes for ever."""
    modules = {found.module for found in imports()}
    assert {"mcp_memory_server.errors", "mcp_memory_server.providers.base.Group", "numpy", "aiosqlite"} <= modules
    assert Imported("providers/sqlite/writing.py", "mcp_memory_server.providers.versions") in imports()
    assert Imported("service/offer.py", "mcp_memory_server.providers.base.SearchRequest") in imports()
    assert len(list(_calls_of_re(sources()["server/arguments.py"]))) == 1


@pytest.mark.parametrize("name", mcp_memory_server.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(mcp_memory_server, name) is not None
    assert name in dir(mcp_memory_server)


def test_public_names_are_sorted_and_no_other_is_made_up() -> None:
    assert list(mcp_memory_server.__all__) == sorted(set(mcp_memory_server.__all__))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(mcp_memory_server, "no_such_" + "name")


HEAVY: Final = ("mcp", "numpy", "snowballstemmer", "sqlite3", "rich", "starlette", "redact_secret")


@pytest.mark.parametrize(
    ("statement", "unloaded"),
    [
        ("import mcp_memory_server", HEAVY),
        ("import mcp_memory_server.regexsafety", HEAVY),
        ("import mcp_memory_server.screening", (*HEAVY, "mcp_memory_server.screening.lexicon")),
        ("from mcp_memory_server import render_block, resolve_digest, write_verdict, Actor", HEAVY),
        ("import mcp_memory_server.providers.in_memory", HEAVY),
        ("import mcp_memory_server.providers.sqlite", ("mcp", "numpy", "snowballstemmer", "rich", "starlette")),
        ("import mcp_memory_server.ranking", HEAVY),
        ("import mcp_memory_server.recall", HEAVY),
        ("import mcp_memory_server.selecting", (*HEAVY, "httpx2")),
        ("import mcp_memory_server.service", HEAVY),
        ("import mcp_memory_server.cli", ("mcp", "numpy", "snowballstemmer", "rich", "starlette")),
    ],
)
def test_an_import_loads_only_what_it_needs(statement: str, unloaded: tuple[str, ...]) -> None:
    """What a prompt hook waits for: each of these would be most of its time."""
    code = f"import sys; {statement}; print(*sorted(set(sys.modules) & {set(unloaded)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_the_checks_of_the_contract_suite_need_no_test_framework() -> None:
    import_module(f"{PACKAGE}.providers.contract")
    wrong = [
        f"{found.path} imports {found.module}"
        for found in imports()
        if found.module.split(".")[0] in {"pytest", "hypothesis", "unittest", "pytest_asyncio"}
    ]
    assert not wrong
