"""Access tokens in the form of JWTs (RFC 9068), verified against their issuer's keys."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Final, cast

import jwt

from mcp_memory_server.errors import ConfigurationError

from .access import ActorToken
from .claims import ClaimNames, actor_of
from .key_set import KeySet

logger = logging.getLogger(__name__)

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Signatures that are made with a key which the server does not hold. With a shared secret, whoever verifies can
also issue, and a public key taken for such a secret lets everybody issue."""
_MAX_TOKEN_CHARS: Final = 16_384


@dataclass(frozen=True, slots=True)
class JwtRules:
    """What a token has to be to let somebody in.

    `audience` is this server's name in the `aud` of tokens, its public address unless the issuer gives it another
    one. `leeway_s` is how far the clocks of issuer and server may differ.
    """

    issuer: str
    audience: str
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    leeway_s: float = 30.0
    claims: ClaimNames = field(default_factory=ClaimNames)

    def __post_init__(self) -> None:
        if wrong := sorted(set(self.algorithms) - ALGORITHMS):
            raise ConfigurationError(
                f"Tokens signed with {', '.join(wrong)} are not accepted. There are: {', '.join(sorted(ALGORITHMS))}."
            )
        if not self.algorithms:
            raise ConfigurationError("No algorithm is left that a token may be signed with: name at least one.")


class _Unusable(Exception):
    """The token lets nobody in; the message says why, for the log."""


class JwtVerifier:
    """Verifies signature, issuer, audience and times of a token, and that it names an actor."""

    def __init__(self, rules: JwtRules, keys: KeySet) -> None:
        self._rules = rules
        self._keys = keys

    async def verify_token(self, token: str) -> ActorToken | None:
        """What the token says; None for every token that lets nobody in, whatever is wrong with it."""
        try:
            return self._read(token, await self._verified(token))
        except _Unusable as error:
            logger.info("a token was refused (%s)", error)
        # Whatever the parts of a token hold: times that are lists or infinite, JSON of ten thousand brackets.
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            logger.info("a token was refused (%s)", type(error).__name__)
        return None

    def _read(self, token: str, claims: dict[str, Any]) -> ActorToken:
        rules = self._rules
        actor = actor_of(claims, rules.claims)
        if actor is None:
            raise _Unusable("no actor")
        client = claims.get("client_id") or claims.get("azp") or claims["sub"]
        return ActorToken(
            token=token,
            client_id=str(client),
            scopes=_scopes(claims.get("scope") or claims.get("scp")),
            expires_at=int(int(claims["exp"]) + rules.leeway_s),
            resource=rules.audience,
            subject=str(claims["sub"]),
            claims=claims,
            actor=actor,
        )

    async def _verified(self, token: str) -> dict[str, Any]:
        rules = self._rules
        if len(token) > _MAX_TOKEN_CHARS:
            raise _Unusable("too long")
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in rules.algorithms:
            raise _Unusable("algorithm not on the list")
        key = await self._keys.key(header.get("kid"))
        if key is None:
            raise _Unusable("unknown key")
        return jwt.decode(
            token,
            key.key,  # the bare one: a JWK that names no algorithm would stand for RS256 alone
            algorithms=[algorithm],
            issuer=rules.issuer,
            audience=rules.audience,
            leeway=rules.leeway_s,
            options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
        )


def _scopes(value: object) -> list[str]:
    """A string with spaces (RFC 9068), or a list, as some issuers write it."""
    if isinstance(value, str):
        return value.split()
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [name for name in listed if isinstance(name, str)]
