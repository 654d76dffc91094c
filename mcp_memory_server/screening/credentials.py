"""Does a text hold a credential?

The tokens of services are known to `redact_secret`, which is made of nothing else and is loaded at the first text.
It wants to see an assignment around a password; people write sentences. Those, card numbers and keys that were cut
into one line are ours. What is found is named by its kind: no value leaves this module.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from .findings import MAX_TEXT_CHARS, CredentialKind
from .hidden import INVISIBLE
from .statements import find_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redact_secret import Finding

_SHAPES: Final = (
    ("private key", "PRIVATE KEY", re.compile(r"-----BEGIN (?:[A-Z0-9]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----")),
    ("private key", "AGE-SECRET-KEY-", re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{50}")),
    ("Azure storage key", "AccountKey=", re.compile(r"AccountKey=[A-Za-z0-9+/]{80}")),
    ("Google refresh token", "1//0", re.compile(r"\b1//0[\w-]{40}")),
    ("recovery phrase", "phrase", re.compile(
        r"\b(?:seed|recovery|backup|mnemonic) phrase[ :]{1,3}(?:is |was )?(?:[a-z]{3,8} ){11}[a-z]{3,8}\b",
        re.IGNORECASE)),
    ("webhook address", "https://", re.compile(
        r"https://(?:hooks\.slack\.com/(?:services|workflows)/[A-Z0-9]{8}|(?:\w{2,9}\.)?"
        r"discord(?:app)?\.com/api/webhooks/\d{17})")),
)  # fmt: skip
"""Name, what a text must hold to be looked at, pattern."""

_ADDRESS: Final = re.compile(r"://[^\s/:@]{0,60}:([^\s/@]{3,80})@")
_STAND_IN: Final = re.compile(r"[$<{\[*%]|(?:your)?_?(?:password|passwd|pass|pwd|secret|token|xxx)", re.IGNORECASE)
"""What documentation writes where a password stands."""

_NUMBERS: Final = re.compile(r"(?:\b[A-Z]{2}|[+.])?\d[\d -]*")
"""Digits in groups; with the letters of an account number or the sign of a telephone number, which is no card."""
_LONG_NUMBER: Final = re.compile(r"\d[\d -]{11}")
_CARDS: Final = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}|35\d{14}|3[068]\d{12}"
)
"""Visa, Mastercard, American Express, Discover, JCB, Diners Club: what they begin with and how long they are."""
_CARD_DIGITS: Final = (13, 19)

_SPELLINGS: Final = {
    "api": "API", "aws": "AWS", "jwt": "JSON web token", "openai": "OpenAI", "github": "GitHub", "gitlab": "GitLab",
    "npm": "npm", "pypi": "PyPI", "oauth": "OAuth", "oauth2": "OAuth2", "id": "ID", "huggingface": "Hugging Face",
    "sendgrid": "SendGrid", "digitalocean": "DigitalOcean", "xai": "xAI", "otpauth": "one-time password", "ai": "AI",
    "devops": "DevOps", "ai21": "AI21", "scim": "SCIM", "cli": "CLI", "contextual": "named",
}  # fmt: skip


def find_credential(text: str) -> CredentialKind | None:
    """The kind of the first credential that the text holds, or None. Takes any string; the value is never returned."""
    text = text[:MAX_TEXT_CHARS]
    if not text.isascii():
        # Half a surrogate pair is no character to the library; what shows nothing must not split a token.
        text = INVISIBLE.sub("", text).encode("utf-8", "replace").decode()
    findings = _scan()(text)
    if findings:
        return CredentialKind(_named(findings[0].type))
    for name, needs, pattern in _SHAPES:
        if needs in text and pattern.search(text):
            return CredentialKind(name)
    if "://" in text and any(not _STAND_IN.match(found[1]) for found in _ADDRESS.finditer(text)):
        return CredentialKind("address with a password")
    if _LONG_NUMBER.search(text) and any(_holds_card(found[0]) for found in _NUMBERS.finditer(text)):
        return CredentialKind("card number")
    if (said := find_statement(text)) is not None:
        return CredentialKind(said)
    return None


@cache
def _scan() -> Callable[[str], Sequence[Finding]]:
    from redact_secret import scan  # noqa: PLC0415  # native code, loaded at the first text

    return scan


@cache
def _named(kind: str) -> str:
    """`github_oauth_token` as *GitHub OAuth token*."""
    first, *rest = kind.split("_")
    return " ".join([_SPELLINGS.get(first, first.capitalize()), *(_SPELLINGS.get(word, word) for word in rest)])


def _holds_card(number: str) -> bool:
    """Whether neighbouring groups of digits make up a card number."""
    if len(number) < _CARD_DIGITS[0] or not number[0].isdigit():
        return False
    groups = number.replace("-", " ").split()
    for first in range(len(groups)):
        digits = ""
        for group in groups[first:]:
            digits += group
            if len(digits) > _CARD_DIGITS[1]:
                break
            if _CARDS.fullmatch(digits) and _checks(digits):
                return True
    return False


def _checks(digits: str) -> bool:
    """Luhn's check sum: of every second digit from the right, doubled, the digits are added."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
