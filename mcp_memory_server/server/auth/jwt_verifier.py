"""Access tokens in the form of JWTs (RFC 9068), verified against their issuer's keys."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Final

import jwt
from mcp.server.auth.provider import AccessToken

from mcp_memory_server.errors import ConfigurationError

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


class JwtVerifier:
    """Verifies signature, issuer, audience and times of a token, and that it names an actor."""

    def __init__(self, rules: JwtRules, keys: KeySet) -> None:
        self._rules = rules
        self._keys = keys

    async def verify_token(self, token: str) -> AccessToken | None:
        """What the token says; None for every token that lets nobody in, whatever is wrong with it."""
        try:
            claims = await self._verified(token)
        except jwt.PyJWTError as error:
            logger.info("a token was refused (%s)", type(error).__name__)
            return None
        if claims is None or actor_of(claims, self._rules.claims) is None:
            logger.info("a token was refused (%s)", "unknown key" if claims is None else "no actor")
            return None
        scopes = claims.get("scope", "")
        return AccessToken(
            token=token,
            client_id=str(claims.get("client_id") or claims.get("azp") or claims["sub"]),
            scopes=scopes.split() if isinstance(scopes, str) else [],
            expires_at=int(claims["exp"] + self._rules.leeway_s),
            resource=self._rules.audience,
            subject=str(claims["sub"]),
            claims=claims,
        )

    async def _verified(self, token: str) -> dict[str, Any] | None:
        rules = self._rules
        if len(token) > _MAX_TOKEN_CHARS:
            raise jwt.DecodeError("too long")
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in rules.algorithms:
            raise jwt.InvalidAlgorithmError("not on the list")
        key = await self._keys.key(header.get("kid"))
        if key is None:
            return None
        return jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=rules.issuer,
            audience=rules.audience,
            leeway=rules.leeway_s,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
