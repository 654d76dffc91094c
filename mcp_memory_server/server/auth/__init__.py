"""Who asks over the network: access tokens, and the actors that they stand for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl, ValidationError

from mcp_memory_server.config import Settings
from mcp_memory_server.errors import ConfigurationError, echo

from .access import EitherVerifier, Verifier, caller_of, token_actor
from .claims import ClaimNames
from .jwt_verifier import JwtRules, JwtVerifier
from .key_set import KeySet
from .token_file import TokenFile, TokenFileVerifier

__all__ = ["Addresses", "Authentication", "Verifier", "caller_of", "open_authentication", "token_actor"]


class Addresses(NamedTuple):
    """This server's and its issuer's, as clients are told them: they compare them letter by letter."""

    resource: AnyHttpUrl
    issuer: AnyHttpUrl


@dataclass(frozen=True, slots=True)
class Authentication:
    """How callers are let in. `addresses` say where clients get tokens; None where people hand them out."""

    verifier: Verifier
    addresses: Addresses | None = None
    required_scopes: tuple[str, ...] = ()


@asynccontextmanager
async def open_authentication(settings: Settings, resource_url: str) -> AsyncGenerator[Authentication | None]:
    """What verifies tokens for the server at `resource_url`; None where none are asked for.

    Raises:
        ConfigurationError: the settings cannot work together, or the token file cannot be used.
    """
    verifiers: list[Verifier] = []
    async with AsyncExitStack() as opened:
        if settings.token_file is not None:
            tokens = TokenFile.at(settings.token_file)
            tokens.entries()  # now, so that a file which lets nobody in is told at once
            verifiers.append(TokenFileVerifier(tokens, resource_url, settings.required_scopes))
        if settings.jwt_issuer is not None:
            keys = KeySet(_keys_url(settings))
            opened.push_async_callback(keys.aclose)
            verifiers.append(JwtVerifier(_rules(settings, settings.jwt_issuer, resource_url), keys))
        if not verifiers:
            yield None
            return
        verifier = verifiers[0] if len(verifiers) == 1 else EitherVerifier(*verifiers)
        addresses = None if settings.jwt_issuer is None else _addresses(settings.jwt_issuer, resource_url)
        yield Authentication(verifier, addresses, settings.required_scopes)


def _addresses(issuer: str, resource_url: str) -> Addresses:
    # The SDK's settings keep an address as it was written, where pydantic by itself would add a slash.
    given = {"issuer_url": issuer, "resource_server_url": resource_url, "validate_token_resource": False}
    try:
        checked = AuthSettings.model_validate(given)
    except ValidationError:
        raise ConfigurationError(
            f"The setting jwt_issuer is no http address: {echo(issuer)}. Give the `iss` of its tokens."
        ) from None
    assert checked.resource_server_url is not None
    return Addresses(checked.resource_server_url, checked.issuer_url)


def _keys_url(settings: Settings) -> str:
    if settings.jwt_keys_url is None:
        raise ConfigurationError("The setting jwt_issuer needs jwt_keys_url too: where that issuer's keys are (JWKS).")
    return settings.jwt_keys_url


def _rules(settings: Settings, issuer: str, resource_url: str) -> JwtRules:
    return JwtRules(
        issuer=issuer,
        audience=settings.jwt_audience or resource_url,
        algorithms=settings.jwt_algorithms,
        leeway_s=settings.jwt_leeway_s,
        claims=ClaimNames(settings.actor_claim, settings.tenant_claim, settings.roles_claim),
    )
