"""Values in the shape of credentials, made on the spot: no file of this project holds one, and none opens anything.

The texts of `data/credentials.jsonl` name shapes in braces; `filled` puts a value in, the same one for one seed.
"""

from __future__ import annotations

import base64
import random
import re
import string
import uuid
from collections.abc import Callable
from typing import Final

Maker = Callable[[random.Random], str]

_ALNUM: Final = string.ascii_letters + string.digits
_UPPER: Final = string.ascii_uppercase + string.digits
_DIGITS: Final = string.digits
_HEX: Final = "0123456789abcdef"
_BASE32: Final = string.ascii_uppercase + "234567"
_URL_SAFE: Final = _ALNUM + "-_"
_BASE64: Final = _ALNUM + "+/"
_WORDS: Final = (
    "anchor", "barrel", "candle", "donkey", "ember", "fabric", "gravel", "harbor", "island", "jacket", "kettle",
    "ladder", "marble", "needle", "orchard", "pepper", "quarry", "ribbon", "saddle", "timber", "umbrella", "velvet",
)  # fmt: skip
_PLACE: Final = re.compile(r"\{([a-z0-9-]+)\}")


def _run(alphabet: str, length: int) -> Maker:
    return lambda chance: "".join(chance.choice(alphabet) for _ in range(length))


def _joined(*parts: str | Maker) -> Maker:
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _jwt(chance: random.Random) -> str:
    claims = f'{{"sub":"{_run(_DIGITS, 10)(chance)}","iat":1700000000}}'
    return ".".join([_encoded('{"alg":"HS256","typ":"JWT"}'), _encoded(claims), _run(_URL_SAFE, 43)(chance)])


def _password(chance: random.Random) -> str:
    """Letters, a mark and digits, as people make them."""
    word = chance.choice(_WORDS).capitalize()
    return f"{word}{chance.choice('!#$%&*')}{chance.randrange(10, 9999)}{chance.choice(string.ascii_letters)}"


def _luhn_sum(digits: str) -> int:
    doubled = (int(digit) * (1 if place % 2 else 2) for place, digit in enumerate(reversed(digits), 1))
    return sum(value - 9 if value > 9 else value for value in doubled)


def _card(prefix: str, groups: tuple[int, ...], between: str = " ", valid: bool = True) -> Maker:
    """Digits in groups, with a last one that makes the check sum of Luhn right, or wrong."""

    def made(chance: random.Random) -> str:
        digits = prefix + _run(_DIGITS, sum(groups) - len(prefix) - 1)(chance)
        digits = next(digits + last for last in _DIGITS if (_luhn_sum(digits + last) % 10 == 0) is valid)
        starts = [sum(groups[:place]) for place in range(len(groups))]
        return between.join(digits[start : start + size] for start, size in zip(starts, groups, strict=True))

    return made


SHAPES: Final[dict[str, Maker]] = {
    "openai-project": _joined("sk-proj-", _run(_URL_SAFE, 74), "T3Blbk" + "FJ", _run(_URL_SAFE, 74)),
    "openai-service": _joined("sk-svcacct-", _run(_URL_SAFE, 74), "T3Blbk" + "FJ", _run(_URL_SAFE, 74)),
    "openai-legacy": _joined("sk-", _run(_ALNUM, 20), "T3Blbk" + "FJ", _run(_ALNUM, 20)),
    "openai-48": _joined("sk-", _run(_ALNUM, 48)),
    "anthropic": _joined("sk-ant-api03-", _run(_URL_SAFE, 93), "AA"),
    "aws-id": _joined("AKIA", _run(_BASE32, 16)),
    "aws-temporary": _joined("ASIA", _run(_BASE32, 16)),
    "aws-secret": _run(_BASE64, 40),
    "github-classic": _joined("ghp_", _run(_ALNUM, 36)),
    "github-fine": _joined("github_pat_", _run(_ALNUM, 22), "_", _run(_ALNUM, 59)),
    "github-server": _joined("ghs_", _run(_ALNUM, 36)),
    "gitlab": _joined("glpat-", _run(_URL_SAFE, 20)),
    "gitlab-runner": _joined("glrt-", _run(_URL_SAFE, 20)),
    "slack-bot": _joined("xoxb-", _run(_DIGITS, 12), "-", _run(_DIGITS, 12), "-", _run(_ALNUM, 24)),
    "slack-user": _joined(
        "xoxp-", _run(_DIGITS, 12), "-", _run(_DIGITS, 12), "-", _run(_DIGITS, 13), "-", _run(_HEX, 32)
    ),
    "slack-app": _joined("xapp-1-A", _run(_UPPER, 10), "-", _run(_DIGITS, 13), "-", _run(_HEX, 64)),
    "slack-webhook": _joined(
        "https://hooks.slack" + ".com/services/T", _run(_UPPER, 8), "/B", _run(_UPPER, 10), "/", _run(_ALNUM, 24)
    ),
    "stripe-live": _joined("sk_live_", _run(_ALNUM, 24)),
    "stripe-restricted": _joined("rk_live_", _run(_ALNUM, 99)),
    "stripe-webhook": _joined("whsec_", _run(_ALNUM, 32)),
    "google-api": _joined("AIza", _run(_URL_SAFE, 35)),
    "google-oauth": _joined("GOCSPX-", _run(_URL_SAFE, 28)),
    "google-refresh": _joined("1//0", _run(_ALNUM, 1), _run(_URL_SAFE, 60)),
    "jwt": _jwt,
    "age": _joined("AGE-SECRET-KEY-1", _run("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "huggingface": _joined("hf_", _run(string.ascii_letters, 34)),
    "npm": _joined("npm_", _run(_ALNUM, 36)),
    "pypi": _joined("pypi-AgEIcHlwaS5vcmc", _run(_URL_SAFE, 120)),
    "sendgrid": _joined("SG.", _run(_URL_SAFE, 22), ".", _run(_URL_SAFE, 43)),
    "telegram": _joined(_run("123456789", 10), ":AA", _run(_URL_SAFE, 33)),
    "discord": _joined(
        lambda chance: _encoded("1" + _run(_DIGITS, 17)(chance)), ".G", _run(_URL_SAFE, 5), ".", _run(_URL_SAFE, 38)
    ),
    "digitalocean": _joined("dop_v1_", _run(_HEX, 64)),
    "shopify": _joined("shpat_", _run(_HEX, 32)),
    "databricks": _joined("dapi", _run(_HEX, 32)),
    "azure-storage": _joined(_run(_BASE64, 86), "=="),
    "mailgun": _joined("key-", _run(_HEX, 32)),
    "linear": _joined("lin_api_", _run(_ALNUM, 40)),
    "notion": _joined("ntn_", _run(_DIGITS, 11), _run(_ALNUM, 35)),
    "vault": _joined("hvs.", _run(_URL_SAFE, 90)),
    "groq": _joined("gsk_", _run(_ALNUM, 52)),
    "replicate": _joined("r8_", _run(_ALNUM, 37)),
    "perplexity": _joined("pplx-", _run(_ALNUM, 48)),
    "xai": _joined("xai-", _run(_ALNUM, 80)),
    "card-visa": _card("4", (4, 4, 4, 4)),
    "card-visa-hyphen": _card("4", (4, 4, 4, 4), "-"),
    "card-visa-plain": _card("4", (16,)),
    "card-mastercard": _card("53", (4, 4, 4, 4)),
    "card-amex": _card("37", (4, 6, 5)),
    "digits-16-no-luhn": _card("4", (4, 4, 4, 4), valid=False),
    "password": _password,
    "pin": _run("23456789", 4),
    "words-12": lambda chance: " ".join(chance.choice(_WORDS) for _ in range(12)),
    "base32": _run(_BASE32, 32),
    "base64-70": _run(_BASE64, 70),
    "base64-86": _run(_BASE64, 86),
    "base64-basic": lambda chance: base64.b64encode(f"ann:{_password(chance)}".encode()).decode(),
    "alnum-14": _run(_ALNUM, 14),
    "alnum-24": _run(_ALNUM, 24),
    "alnum-32": _run(_ALNUM, 32),
    "alnum-40": _run(_ALNUM, 40),
    "hex-32": _run(_HEX, 32),
    "sha1": _run(_HEX, 40),
    "sha1-short": _run(_HEX, 8),
    "sha256": _run(_HEX, 64),
    "uuid": lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
}
"""By the name that stands in braces: what makes a value of that shape."""


def filled(text: str, seed: int) -> str:
    """The text with a fresh value in each place that names a shape."""
    chance = random.Random(seed)
    return _PLACE.sub(lambda place: SHAPES[place[1]](chance) if place[1] in SHAPES else place[0], text)
