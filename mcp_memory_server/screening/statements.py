"""Secrets that are simply said: *the wifi password is ...*, in the languages that people say it in.

A statement is a word for a secret, then what joins it to its value, then a value that looks chosen to be secret. The
value decides: *the password is in the vault* has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WORDS: Final = re.compile(
    r"(?P<password>\b(?:password|passwd|pwd|passphrase|pass phrase|passwort|kennwort|mot de passe|contraseña|"
    r"senha|palavra.passe|wachtwoord|пароль|пароля|hasło|hasłem|şifre|şifresi|şifrem|parola|parolası|lösenord|"
    r"adgangskode|heslo|mật khẩu|kata sandi)\b|كلمة (?:المرور|السر)|पासवर्ड|密码|密碼|口令|パスワード|暗証番号|"
    r"비밀번호|패스워드|סיסמה)"
    r"|(?P<pin>\b(?:pin|passcode|пин-?код)(?:.?code)?\b)"
    r"|(?P<key>\b(?:api|access|secret|auth|client).?(?:key|token|secret|schlüssel)\b|\bclé (?:d.)?api\b|"
    r"\b(?:clave|chave|chiave) (?:de |da |della )?api\b|\bapi.ключ\b|密钥|密鑰|APIキー|API 키)",
    re.IGNORECASE,
)
_PARTS: Final = (
    "pass", "pwd", "kennwort", "contrase", "senha", "palavra", "wachtwoord", "парол", "hasł", "ifre", "parola",
    "senord", "adgangskode", "heslo", "khẩu", "sandi", "كلمة", "पास", "密", "口令", "パスワ", "暗証", "비밀", "패스",
    "סיסמה", "pin", "пин", "key", "token", "secret", "schlüssel", "api", "키",
)  # fmt: skip
"""Each of those words holds one of these, and they are faster to look for."""

_REACH: Final = 70
"""How far after its word a value is looked for, in characters."""

_JOINT: Final = re.compile(
    r"[:=：＝]|\b(?:is|was|ist|war|lautet|est|es|era|é|è|jest|to|هي|هو|है)\b(?= )|是|为|は|は|[는은]|[—–]", re.IGNORECASE
)
_OF: Final = re.compile(
    r"\A\s{0,3}(?:$|\(|(?:for|of|to|on|at|in|für|zum|zur|vom|des|der|pour|du|de|del|della|do|da|para|per|van|voor|"
    r"для|от|до|к|від|na|od|için|الخاصة|的|の|의|key|code|wifi|wi-fi|wlan)\b|[का के])",
    re.IGNORECASE,
)
"""What may stand between the word and the joint: *for the router*. Not *manager* or *policy*."""

_UNJOINED: Final = re.compile("[\u0400-\u04ff\u0600-\u06ff\u0900-\u097f\uac00-\ud7af]|şifre|parola", re.IGNORECASE)
"""Languages that need no *is*."""

_QUOTED: Final = re.compile(r"\A\s{0,3}[\"“„«‘'`「]([^\"”“»’'`」\n]{4,64})[\"”“»’'`」]")
_TOKEN: Final = re.compile(r"[^\s,;，、。「」“”\"]+")
_ASCII_RUN: Final = re.compile(r"[!-~]{4,}")
_SECRET_MARKS: Final = frozenset("!#$%&*+=?@^~|")
_NO_VALUE: Final = re.compile(
    r"\A(?:https?:|[$<{(/~\[]|.*(?:xxx|\*\*\*|\.\.\.|…)|[A-Z0-9]+_[A-Z0-9_]+$|os\.|env\.|\d+(?:h|d|s|min|days?|x|\+)?$"
    r"|[\w.+-]+@[\w-]+\.|(?:1password|keepass|bitwarden|lastpass|sha-?\d|bcrypt|argon2|md5|pbkdf2|scrypt|base\d\d|utf-?\d|2fa))",
    re.IGNORECASE,
)
"""Places, placeholders, names of variables, plain numbers, programs and ways to hash."""

_PIN: Final = re.compile(r"\A\d{4,8}\Z")
_NUMBER: Final = re.compile(r"\A\d{5,}\Z")


def find_statement(text: str) -> str | None:
    """The name of a kind of secret that the text states together with its value, or None."""
    lowered = text.lower()
    if not any(part in lowered for part in _PARTS):
        return None
    for word in _WORDS.finditer(text):
        tail = text[word.end() : word.end() + _REACH].split("\n", maxsplit=1)[0]
        if word["pin"] is not None:
            if any(_PIN.match(value) for value, _ in _values(word[0], tail)):
                return "PIN"
        elif word["key"] is not None:
            if any(_is_key(value) for value, _ in _values(word[0], tail)):
                return "API key or token"
        elif any(quoted or _is_chosen(value) for value, quoted in _values(word[0], tail)):
            return "password"
    return None


def _values(word: str, tail: str) -> Iterator[tuple[str, bool]]:
    """What may be the value, and whether it stands in quotes."""
    joint = _JOINT.search(tail)
    if joint is not None and _OF.match(tail[: joint.start()]):
        if quoted := _QUOTED.match(tail[joint.end() :]):
            yield quoted[1], True
            return
        if token := _TOKEN.search(tail, joint.end()):
            yield _bare(token[0]), False
    if _UNJOINED.search(word):
        yield from ((_bare(token), False) for token in _TOKEN.findall(tail)[:4])


def _bare(token: str) -> str:
    """The token without the full stop or bracket of its sentence, and without letters that are glued to it."""
    run = _ASCII_RUN.search(token)
    return (run[0] if run else token).rstrip(".:)!?'`").lstrip("('`")


def _is_chosen(value: str) -> bool:
    """Whether this looks chosen to be hard to guess: letters with digits or marks, or a long number."""
    if len(value) < 5 or not value.isascii():
        return False
    if _NUMBER.match(value):
        return True
    if _NO_VALUE.match(value):
        return False
    letters = any(char.isalpha() for char in value)
    return letters and (any(char.isdigit() for char in value) or not _SECRET_MARKS.isdisjoint(value))


def _is_key(value: str) -> bool:
    return (
        len(value) >= 16
        and not _NO_VALUE.match(value)
        and sum(char.isdigit() for char in value) >= 2
        and sum(char.isalpha() for char in value) >= 2
    )
