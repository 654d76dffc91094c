"""What a server needs besides that is reached over a network: its address, its callers' identity, its limits."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode

from .setting_forms import NUMBER, Names, OptionalName, blank_is_none, lower, split

Transport = Literal["stdio", "streamable-http", "sse"]

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class NetworkSettings(BaseSettings):
    """The settings that only `serve` reads, over streamable HTTP and SSE. They are fields of `config.Settings`."""

    transport: Annotated[tuple[Transport, ...], NoDecode, BeforeValidator(split)] = Field(
        default=("stdio",),
        min_length=1,
        description="stdio, streamable-http, sse, or the last two with a comma between",
    )
    host: Annotated[str, BeforeValidator(lower)] = Field(
        default="127.0.0.1", min_length=1, description="an address of this machine, such as 127.0.0.1 or 0.0.0.0"
    )
    port: Annotated[int, NUMBER] = Field(default=8000, ge=0, le=65_535, description="a port, 0 for any that is free")
    public_url: OptionalName = Field(
        default=None, description="the address that clients use, such as https://memory.example.com/mcp, or nothing"
    )
    allowed_host: Names = Field(
        default=(), description="names such as memory.example.com or memory.example.com:*, separated by commas"
    )
    allowed_origin: Names = Field(
        default=(), description="origins such as https://chat.example.com, separated by commas, or nothing"
    )
    insecure: bool = Field(default=False, description="true or false")

    token_file: OptionalName = Field(default=None, description="the path of a token file, or nothing")
    jwt_issuer: OptionalName = Field(default=None, description="the `iss` of your issuer's tokens, or nothing")
    jwt_keys_url: OptionalName = Field(
        default=None, description="the https address of your issuer's key set (JWKS), or nothing"
    )
    jwt_audience: OptionalName = Field(default=None, description="the `aud` of tokens for this server, or nothing")
    jwt_algorithms: Names = Field(
        default=("RS256", "ES256", "EdDSA"), min_length=1, description="some of RS256, PS256, ES256, EdDSA and the like"
    )
    jwt_leeway_s: Annotated[float, NUMBER] = Field(
        default=30.0, ge=0, le=300, allow_inf_nan=False, description="seconds from 0 to 300"
    )
    actor_claim: str = Field(default="sub", min_length=1, description="the name of a claim; a dot goes into an object")
    tenant_claim: str = Field(
        default="tenant", min_length=1, description="the name of a claim; a dot goes into an object"
    )
    roles_claim: str = Field(default="roles", min_length=1, description="the name of a claim, as realm_access.roles")
    required_scopes: Names = Field(default=(), description="OAuth scopes, separated by commas, or nothing")
    roles_required: bool = Field(default=False, description="true or false")

    state_keys: Annotated[SecretStr | None, BeforeValidator(blank_is_none)] = Field(
        default=None, description="secrets of 32 bytes or more, separated by commas, or nothing"
    )
    state_keys_file: OptionalName = Field(
        default=None, description="the path of a file with such secrets, one a line, or nothing"
    )

    max_body_bytes: Annotated[int, NUMBER] = Field(
        default=1024 * 1024, ge=1024, le=64 * 1024 * 1024, description="a whole number of bytes from 1024 to 67108864"
    )
    request_timeout_s: Annotated[float, NUMBER] = Field(
        default=30.0, gt=0, le=3600, allow_inf_nan=False, description="seconds, more than 0 and at most 3600"
    )
    requests_per_minute: Annotated[int, NUMBER] = Field(
        default=1200, ge=0, le=1_000_000, description="a whole number up to 1000000, 0 for no limit"
    )
    sessions: Annotated[Literal["auto", "kept", "none"], BeforeValidator(lower)] = Field(
        default="auto", description="auto, kept or none"
    )
    max_sessions: Annotated[int, NUMBER] = Field(
        default=1000, ge=1, le=100_000, description="a whole number from 1 to 100000"
    )
    log_format: Annotated[Literal["text", "json"], BeforeValidator(lower)] = Field(
        default="text", description="text or json"
    )

    @field_validator("transport")
    @classmethod
    def _can_be_served_together(cls, transport: tuple[Transport, ...]) -> tuple[Transport, ...]:
        if "stdio" in transport and len(transport) > 1:
            raise ValueError("has stdio beside others: standard input and output serve one client only")
        return transport

    @field_validator("public_url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("is no http or https address")
        return url

    @property
    def authenticates(self) -> bool:
        """Whether callers have to show a token."""
        return self.token_file is not None or self.jwt_issuer is not None

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but this machine can connect."""
        return self.host in LOOPBACK
