"""Which JWTs let somebody in, whose keys they are verified with, and how often those are asked for."""

import base64
import json
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.identity import Actor
from mcp_memory_server.server.auth.claims import ClaimNames, actor_of
from mcp_memory_server.server.auth.jwt_verifier import JwtRules, JwtVerifier
from mcp_memory_server.server.auth.key_set import KeySet

ISSUER = "https://id.example.com"
AUDIENCE = "https://memory.example.com/mcp"
URL = "https://id.example.com/keys"
RULES = JwtRules(ISSUER, AUDIENCE)

RSA_KEY = rsa.generate_private_key(65537, 2048)
OTHER_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def jwk(key: Any, kid: str | None, **more: Any) -> dict[str, Any]:
    kind: Any = ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else RSAAlgorithm
    named = {} if kid is None else {"kid": kid}
    return {**kind.to_jwk(key.public_key(), as_dict=True), **named, **more}


@dataclass
class Issuer:
    """A token issuer on a clock that stands still unless it is moved."""

    keys: list[dict[str, Any]] = field(default_factory=lambda: [jwk(RSA_KEY, "one"), jwk(EC_KEY, "two")])
    status: int = 200
    body: bytes | None = None
    asked: int = 0
    now: float = 1000.0

    def answer(self, _: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return httpx2.Response(self.status, content=self.body or json.dumps({"keys": self.keys}).encode())

    def key_set(self) -> KeySet:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer))
        return KeySet(URL, client=client, clock=lambda: self.now)

    def verifier(self, rules: JwtRules = RULES) -> JwtVerifier:
        return JwtVerifier(rules, self.key_set())


def claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    stated = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": now + 600, "iat": now, "tenant": "acme", **changed}
    return {name: value for name, value in stated.items() if value is not None}


def signed(key: Any = RSA_KEY, algorithm: str = "RS256", kid: str | None = "one", **changed: Any) -> str:
    headers = None if kid is None else {"kid": kid}
    return jwt.encode(claims(**changed), key, algorithm, headers=headers)


async def test_a_good_token_names_its_actor() -> None:
    found = await Issuer().verifier().verify_token(signed(scope="mem other", roles=["memory:reader", "offline_access"]))
    assert found is not None
    assert found.actor == Actor("ann", "acme", frozenset({"memory:reader"}))
    assert found.scopes == ["mem", "other"]
    assert (found.client_id, found.subject, found.resource) == ("ann", "ann", AUDIENCE)
    assert await Issuer().verifier().verify_token(signed(EC_KEY, "ES256", "two")) is not None
    listed = await Issuer().verifier().verify_token(signed(aud=["https://other", AUDIENCE], scp=["mem"], azp="desk"))
    assert listed is not None
    assert (listed.client_id, listed.scopes) == ("desk", ["mem"])


NOW = int(time.time())


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "https://other.example.com/mcp"},
        {"aud": None},
        {"exp": NOW - 60},
        {"exp": None},
        {"exp": "soon"},
        {"exp": [1]},
        {"exp": float("inf")},
        {"nbf": NOW + 3600},
        {"iat": NOW + 3600},
        {"sub": None},
        {"sub": " "},
        {"sub": "x" * 300},
        {"tenant": ["acme"]},
        {"tenant": " "},
    ],
)
async def test_a_claim_that_is_wrong_lets_nobody_in(changed: dict[str, Any]) -> None:
    assert await Issuer().verifier().verify_token(signed(**changed)) is None


async def test_clocks_may_differ_by_the_leeway() -> None:
    late = signed(exp=int(time.time()) - 10)
    assert await Issuer().verifier().verify_token(late) is not None
    assert await Issuer().verifier(JwtRules(ISSUER, AUDIENCE, leeway_s=0)).verify_token(late) is None


def unsigned(header: dict[str, Any], payload: dict[str, Any], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(payload).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


PUBLIC_PEM = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def hmac_signed(secret: bytes, header: dict[str, Any]) -> str:
    import hashlib  # noqa: PLC0415
    import hmac  # noqa: PLC0415

    head = unsigned(header, claims()).rpartition(".")[0]
    signature = hmac.new(secret, head.encode(), hashlib.sha256).digest()
    return f"{head}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


@pytest.mark.parametrize(
    "token",
    [
        unsigned({"alg": "none", "kid": "one"}, claims()),
        unsigned({"alg": "None", "kid": "one"}, claims()),
        unsigned({"kid": "one"}, claims()),
        unsigned({"alg": "RS256", "kid": "one"}, claims()),
        unsigned({"alg": ["RS256"], "kid": "one"}, claims()),
        unsigned({"alg": "RS256", "kid": 1}, claims()),
        unsigned({"alg": "RS256", "kid": "one", "crit": ["exp"]}, claims(), b"x"),
        hmac_signed(PUBLIC_PEM, {"alg": "HS256", "kid": "one"}),
        hmac_signed(PUBLIC_PEM, {"alg": "RS256", "kid": "one"}),
        signed(OTHER_KEY),
        signed(EC_KEY, "ES256", "one"),
        signed(kid="unknown"),
        signed(kid=None),  # two keys: which one?
        signed()[:-10],
        signed() + "x" * 20_000,
        "",
        "a.b",
        "a.b.c",
        "é.é.é",
        "\ud800",
        base64.urlsafe_b64encode(b"[" * 9000).decode() + ".e30.x",
    ],
)
async def test_a_token_that_its_issuer_did_not_sign_lets_nobody_in(token: str) -> None:
    """Neither `none` nor a public key taken for a secret, whatever the header says."""
    assert await Issuer().verifier().verify_token(token) is None


async def test_a_secret_among_the_public_keys_verifies_nothing() -> None:
    secret = b"0123456789abcdef0123456789abcdef"
    shared = {"kty": "oct", "kid": "s", "k": base64.urlsafe_b64encode(secret).rstrip(b"=").decode()}
    issuer = Issuer(keys=[shared, jwk(RSA_KEY, "one")])
    for algorithm in ("HS256", "RS256"):
        token = hmac_signed(secret, {"alg": algorithm, "kid": "s"})
        assert await issuer.verifier().verify_token(token) is None
    assert await issuer.verifier().verify_token(signed()) is not None


@pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits")  # says the library that signs it here
async def test_a_key_for_encryption_and_one_that_is_too_short_verify_nothing() -> None:
    issuer = Issuer(keys=[jwk(RSA_KEY, "one", use="enc"), jwk(EC_KEY, "two")])
    assert await issuer.verifier().verify_token(signed()) is None
    short = rsa.generate_private_key(65537, 1024)
    assert await Issuer(keys=[jwk(short, "one")]).verifier().verify_token(signed(short)) is None


async def test_an_algorithm_is_taken_from_the_list_whatever_the_key_says() -> None:
    token = signed(algorithm="PS256")
    assert await Issuer().verifier().verify_token(token) is None
    assert await Issuer().verifier(JwtRules(ISSUER, AUDIENCE, ("PS256",))).verify_token(token) is not None
    for wrong in ("none", "HS256", "RS999"):
        with pytest.raises(ConfigurationError, match=wrong):
            JwtRules(ISSUER, AUDIENCE, ("RS256", wrong))


async def test_the_only_key_needs_no_id() -> None:
    assert await Issuer(keys=[jwk(RSA_KEY, None)]).verifier().verify_token(signed(kid=None)) is not None


# --- keys -----------------------------------------------------------------------------------------------


async def test_keys_are_fetched_once_for_many_tokens() -> None:
    issuer = Issuer()
    verifier = issuer.verifier()
    for _ in range(5):
        assert await verifier.verify_token(signed()) is not None
    assert issuer.asked == 1
    issuer.now += 3601
    assert await verifier.verify_token(signed()) is not None
    assert issuer.asked == 2


async def test_a_new_key_is_found_and_made_up_ones_cost_the_issuer_little() -> None:
    issuer = Issuer()
    verifier = issuer.verifier()
    assert await verifier.verify_token(signed()) is not None
    issuer.keys = [jwk(OTHER_KEY, "three")]
    issuer.now += 31
    assert await verifier.verify_token(signed(OTHER_KEY, kid="three")) is not None
    assert issuer.asked == 2
    for number in range(20):
        assert await verifier.verify_token(signed(kid=f"made up {number}")) is None
    assert issuer.asked == 2
    assert await verifier.verify_token(signed()) is None  # that key was withdrawn


async def test_keys_stay_good_for_a_while_when_the_issuer_is_down_and_end_then() -> None:
    issuer = Issuer()
    verifier = issuer.verifier()
    assert await verifier.verify_token(signed()) is not None
    issuer.status = 503
    issuer.now += 20 * 3600
    for _ in range(5):
        assert await verifier.verify_token(signed()) is not None
    assert issuer.asked == 2  # and a second apart the next time, then two, then four
    issuer.now += 5 * 3600
    assert await verifier.verify_token(signed()) is None
    issuer.status, issuer.now = 200, issuer.now + 61
    assert await verifier.verify_token(signed()) is not None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"keys": 7}', b'{"keys": [7]}', b"[" * 5000, b"x" * 2_000_000])
async def test_an_answer_that_is_no_key_set_lets_nobody_in(body: bytes) -> None:
    issuer = Issuer(body=body or b" ")
    assert await issuer.verifier().verify_token(signed()) is None


@pytest.mark.parametrize(
    "url", ["http://id.example.com/keys", "http://localhost.evil.example/keys", "file:///keys", "ftp://127.0.0.1/keys"]
)
def test_keys_come_over_https_only(url: str) -> None:
    with pytest.raises(ConfigurationError, match="https"):
        KeySet(url)


# --- claims ---------------------------------------------------------------------------------------------


def test_claims_may_lie_deeper_and_be_called_otherwise() -> None:
    names = ClaimNames("email", "https://acme.example/org", "realm_access.roles")
    stated = {
        "sub": "1",
        "email": "ann@acme.example",
        "https://acme.example/org": "acme",
        "realm_access": {"roles": ["memory:writer", "uma_authorization", 7]},
    }
    assert actor_of(stated, names) == Actor("ann@acme.example", "acme", frozenset({"memory:writer"}))
    assert actor_of(stated | {"realm_access": "x"}, names) == Actor("ann@acme.example", "acme")
    assert actor_of({"sub": "ann", "roles": "memory:reader memory:writer"}, ClaimNames()) == Actor(
        "ann", None, frozenset({"memory:reader", "memory:writer"})
    )


@pytest.mark.parametrize("sub", [None, 7, "", " ", ["ann"], {"a": 1}, "a" * 250])
def test_claims_that_name_nobody_let_nobody_in(sub: object) -> None:
    assert actor_of({"sub": sub}, ClaimNames()) is None


def test_two_names_are_two_actors_whatever_their_spaces_and_case() -> None:
    names = ["ann", "Ann", " ann", "ann ", "ann\u00a0"]
    assert len({actor_of({"sub": name}, ClaimNames()) for name in names}) == len(names)
