"""A file of tokens for a small team that has no identity provider: who may come in, and until when.

A token is 256 random bits, so its plain SHA-256 tells nobody anything: slow hashes are for passwords, which people
choose. The file holds hashes only; a token is seen once, when it is made. It is looked up by its hash, so how long
that takes depends on the hash alone, which nobody can steer towards a given one: no comparison tells how near a guess
came.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self, cast

from mcp_memory_server.errors import ConfigurationError, InvalidInput, echo
from mcp_memory_server.identity import Actor
from mcp_memory_server.records import canonical_instant

from .access import ActorToken

logger = logging.getLogger(__name__)

PREFIX: Final = "mms_"
"""So that a token that got somewhere it should not be is recognised as one."""
_ISSUER: Final = "token-file"
"""The SDK tells callers apart by it, too: so it is the same on every server that reads the file, wherever it listens.
It is none of a JWT's, which is an address."""
_HASH_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """One token: its name in the list, whom it stands for, and when it was made and ends."""

    name: str
    hash: str
    actor: Actor
    created_at: str
    expires_at: str | None = None

    def is_expired(self, now: str) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def as_json(self) -> dict[str, Any]:
        """The entry as it stands in the file; absent values are left out."""
        shown: dict[str, Any] = {"name": self.name, "hash": self.hash, "actor": self.actor.id}
        if self.actor.tenant_id is not None:
            shown["tenant"] = self.actor.tenant_id
        if self.actor.roles:
            shown["roles"] = sorted(self.actor.roles)
        shown["created_at"] = self.created_at
        if self.expires_at is not None:
            shown["expires_at"] = self.expires_at
        return shown


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class TokenFile:
    """The tokens in one file, read anew whenever the file is another one: revoking needs no restart."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._by_hash: dict[str, TokenEntry] = {}

    @classmethod
    def at(cls, path: str) -> Self:
        """The file that a setting names."""
        return cls(Path(path).expanduser())

    @property
    def path(self) -> Path:
        return self._path

    def entries(self) -> tuple[TokenEntry, ...]:
        """All of them, in the order of the file; none where there is no file.

        Raises:
            ConfigurationError: the file cannot be read, or holds something else.
        """
        self._refresh()
        return tuple(self._by_hash.values())

    def find(self, token: str, now: str) -> TokenEntry | None:
        """The entry of a token that lets somebody in now."""
        self._refresh()
        entry = self._by_hash.get(hash_of(token))
        return None if entry is None or entry.is_expired(now) else entry

    def add(self, name: str, actor: Actor, now: str, expires_at: str | None = None) -> str:
        """Make a token and return it: nothing can show it again.

        Raises:
            InvalidInput: the name is blank or taken, or the token would have ended already.
            ConfigurationError: the file cannot be read or written.
        """
        name = name.strip()
        if not name:
            raise InvalidInput.of("name", "is blank; name whose token it is, or for which machine")
        if expires_at is not None and expires_at <= now:
            raise InvalidInput.of("expires", f"({expires_at}) is in the past")
        token = PREFIX + secrets.token_urlsafe(32)
        with self._changing():
            held = self.entries()
            if any(entry.name == name for entry in held):
                raise InvalidInput.of("name", f"is taken: {echo(name)}; revoke that token first, or take another name")
            if any(entry.actor.id == actor.id and entry.actor.tenant_id != actor.tenant_id for entry in held):
                # What is held about an actor is found by their id alone, whatever tenant they come from.
                raise InvalidInput.of("actor", f"is taken: {echo(actor.id)} belongs to another tenant; name them apart")
            self._write((*held, TokenEntry(name, hash_of(token), actor, now, expires_at)))
        return token

    def revoke(self, name: str) -> bool:
        """Whether there was a token of that name; it lets nobody in from now on."""
        with self._changing():
            held = self.entries()
            kept = tuple(entry for entry in held if entry.name != name)
            if len(kept) == len(held):
                return False
            self._write(kept)
            return True

    def _refresh(self) -> None:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            self._seen, self._by_hash = None, {}
            return
        except OSError as error:
            raise self._unreadable(error.strerror or str(error)) from None
        if os.name == "posix" and status.st_mode & 0o022:
            raise self._unreadable("others may write to it, and so let anybody in; run chmod 600 on it")
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen != self._seen:
            self._by_hash = {entry.hash: entry for entry in self._read()}
            self._seen = seen

    def _read(self) -> list[TokenEntry]:
        try:
            document: object = json.loads(self._path.read_text("utf-8"))
            listed = cast("Mapping[str, object]", document)["tokens"] if isinstance(document, dict) else None
            if not isinstance(listed, list):
                raise TypeError("has no list of tokens")
            return [_entry_of(cast("Mapping[str, Any]", fields)) for fields in cast("list[object]", listed)]
        except OSError as error:
            raise self._unreadable(error.strerror or str(error)) from None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._unreadable("it is not what `mcp-memory-server token add` writes") from None

    def _unreadable(self, reason: str) -> ConfigurationError:
        return ConfigurationError(f"The token file {self._path} cannot be used: {reason}. Nobody is let in by it.")

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Hold the file for a change, so that of two commands at once neither undoes the other.

        The lock is a file beside it, which goes with whoever holds it: after a crash nobody has to wait.

        Raises:
            ConfigurationError: the folder cannot be written to, or another command holds the file for long.
        """
        lock = self._path.with_name(f".{self._path.name}.lock")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            _lock(descriptor)
            self._seen = None
            yield
        finally:
            os.close(descriptor)  # and with it the lock

    def _write(self, entries: tuple[TokenEntry, ...]) -> None:
        """Put a new file in the place of the old one: a reader sees either, and a crash leaves one of them."""
        text = json.dumps({"tokens": [entry.as_json() for entry in entries]}, ensure_ascii=False, indent=1)
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self._path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise self._unwritable(error) from None
        self._seen = None

    def _unwritable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"The token file {self._path} cannot be written: {error.strerror or error}. Nothing was changed."
        )


def _lock(descriptor: int) -> None:
    """Wait until nobody else has the file locked, for as long as a change takes them."""
    if os.name == "posix":
        import fcntl  # noqa: PLC0415  # there is none on Windows

        fcntl.flock(descriptor, fcntl.LOCK_EX)
    else:
        import msvcrt  # noqa: PLC0415  # and this only there

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)


def _entry_of(fields: Mapping[str, Any]) -> TokenEntry:
    expires_at, tenant = fields.get("expires_at"), fields.get("tenant")
    if len(fields["hash"]) != _HASH_CHARS:
        raise ValueError("no hash")
    return TokenEntry(
        name=str(fields["name"]),
        hash=str(fields["hash"]),
        actor=Actor(str(fields["actor"]), None if tenant is None else str(tenant), frozenset(fields.get("roles", ()))),
        created_at=canonical_instant(fields["created_at"]),
        expires_at=None if expires_at is None else canonical_instant(expires_at),
    )


class TokenFileVerifier:
    """Lets in whoever presents a token of the file, for all of `scopes`. `resource` is this server itself."""

    def __init__(self, tokens: TokenFile, resource: str, scopes: Sequence[str] = ()) -> None:
        self._tokens = tokens
        self._resource = resource
        self._scopes = scopes

    async def verify_token(self, token: str) -> ActorToken | None:
        # The file is read in the loop: it is small, and read only when it is another one than last time.
        try:
            entry = self._tokens.find(token, canonical_instant(datetime.now(UTC)))
        except ConfigurationError as error:
            logger.error("%s", error)
            return None
        if entry is None:
            return None
        return ActorToken(
            token=token,
            client_id=entry.name,
            scopes=list(self._scopes),
            resource=self._resource,
            subject=entry.actor.id,
            claims={"iss": _ISSUER},
            actor=entry.actor,
        )
