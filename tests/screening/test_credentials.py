"""Credentials are named by kind, in the sentences that people write; what only resembles one passes.

No value here is a secret, and none stands whole in this file, so that scanners of repositories stay quiet.
"""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.screening import CredentialKind, find_credential

from .steps import steps

RUN = ("a1B2c3D4e5F6g7H8i9J0k" + string.ascii_letters + string.digits) * 2
HEX = "0123456789abcdef" * 4
CARD = "4539" + " 1488 0343 6467"
SECRET = "Marble" + "!42x"

TOKENS = {
    "Anthropic API key": "sk-ant-" + "api03-" + RUN[:93] + "AA",
    "AWS access key ID": "AKIA" + "QYLPMN5HHHFPZAM2",
    "GitHub token": "ghp" + "_" + RUN[:36],
    "GitLab token": "glpat" + "-" + RUN[:20],
    "Slack token": "xoxb" + "-123456789012-123456789012-" + RUN[:24],
    "Stripe credential": "sk_" + "live_" + RUN[:24],
    "Google API key": "AIza" + RUN[:35],
    "Hugging Face token": "hf" + "_" + string.ascii_letters[:34],
    "npm access token": "npm" + "_" + RUN[:36],
    "private key": "-----BEGIN " + "RSA PRIVATE KEY----- MIIEow",
    "Azure storage key": "AccountKey=" + RUN[:86] + "==",
    "webhook address": "https://hooks." + "slack.com/services/T0AB1CD2E/B0AB1CD2E/" + RUN[:24],
    "card number": CARD,
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("sentence", ["{}", "Use {} for the demo.", "密钥{}后"])
def test_a_token_is_named_in_any_sentence(name: str, sentence: str) -> None:
    assert find_credential(sentence.format(TOKENS[name])) == CredentialKind(name)


STATEMENTS = {
    "en": "The password for the office wifi is {}.",
    "de": "Das Passwort ist {}",
    "nl": "Het wachtwoord is {}",
    "fr": "Le mot de passe est {}",
    "es": "La contraseña es {}",
    "it": "La password del router è {}",
    "pt": "A senha é {}",
    "ru": "Пароль от вайфая {}",
    "uk": "Пароль до роутера: {}",
    "pl": "Hasło to {}",
    "tr": "Şifre: {}",
    "ar": "كلمة المرور هي {}",
    "hi": "पासवर्ड {} है",
    "zh": "密码是{}",
    "ja": "パスワードは{}です",
    "ko": "비밀번호는 {} 입니다",
}


@pytest.mark.parametrize("language", STATEMENTS)
def test_a_stated_password_is_found(language: str) -> None:
    assert find_credential(STATEMENTS[language].format(SECRET)) == CredentialKind("password")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("password", "password is hunter2"),
        ("password", "The password is 8675309."),
        ("password", 'root password on the NAS is "swordfish"'),
        ("password", 'passphrase: "correct horse battery staple"'),
        ("password", 'root password on the NAS: "swordfish" since May'),
        ("PIN", "The PIN for the debit card is 4821."),
        ("API key or token", f"The API key for the weather service is {RUN[:32]}."),
        ("recovery phrase", "Recovery phrase: " + " ".join(["timber"] * 12)),
        ("Authorization credential", "Authorization: Basic " + RUN[:24]),
    ],
)
def test_other_secrets_are_found_as_people_say_them(name: str, text: str) -> None:
    assert find_credential(text) == CredentialKind(name)


@pytest.mark.parametrize("place", ["{}", "DB: {}", "数据库{}后"])
@pytest.mark.parametrize("scheme", ["postgres", "mongodb+srv", "https", "redis", "ftp"])
def test_an_address_with_a_password_is_found(scheme: str, place: str) -> None:
    assert find_credential(place.format(f"{scheme}://app:{SECRET}@db.acme.example/main")) is not None


def test_characters_that_show_nothing_do_not_split_a_token() -> None:
    token = TOKENS["GitHub token"]
    assert find_credential(token[:20] + "\u200b" + token[20:]) == CredentialKind("GitHub token")


@pytest.mark.parametrize(
    "text",
    [
        f"Commit {HEX[:40]} broke the build.",
        f"sha256:{HEX} is the image digest.",
        "The device id is 550e8400-e29b-41d4-a716-446655440000.",
        "Order number 4539 1488 0343 6468 is late.",
        "The codes 1234 5678 9012 3456 7890 1234 5678 are on the sheet.",
        "Password:",
        "IBAN DE89 3704 0044 0532 0130 00 is the rent account.",
        "Call her on +49 30 901820 after five, or +1 (415) 555-0132.",
        "Tracking 1Z999AA10123456784 for the parcel.",
        "Her password manager is 1Password.",
        "Password: see the safe in the office.",
        "The password is in the vault.",
        "Passwords must have at least 14 characters.",
        "The password is hashed with argon2id.",
        "The PIN is 4 digits long.",
        'The PIN is "changed often".',
        "The API key is in the environment variable ACME_API_KEY.",
        "The API key is read from $ACME_API_KEY.",
        "The key file is at ~/.ssh/id_ed25519, mode 600.",
        "https://docs.acme.example/v2/guide?lang=en#auth",
        "postgres://db.acme.example:5432/main is reached through the tunnel.",
        "The DSN looks like postgres://user:password@host/db in the docs.",
        "AKIA is how access key ids begin.",
        "Authorization: Bearer <token> goes into each request.",
        "-----BEGIN PUBLIC KEY----- is what the file starts with.",
        "Das Passwort steht im Tresor.",
        "Пароль хранится в сейфе.",
        "密码由管理员保管。",
        "パスワードは90日ごとに変更する。",
        "",
    ],
)
def test_what_only_resembles_a_credential_passes(text: str) -> None:
    assert find_credential(text) is None


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_at_all_has_an_answer(text: str) -> None:
    found = find_credential(text)
    assert found is None or found.name


@given(
    st.sampled_from(["password is ", "密码:", "PIN ", "card 4539", "sk-ant-", "postgres://a:", "api key ", "\ud800"]),
    st.text(),
)
def test_the_name_of_a_kind_holds_none_of_the_text(before: str, after: str) -> None:
    found = find_credential(before + after)
    assert found is None or found.name.isascii()


@pytest.mark.parametrize(
    "unit", ["a", "1", "1 ", "4539 ", "password is ", "pin 1 ", "api key = a1 ", "://a:b", "密码", "phrase "]
)
def test_the_work_grows_with_the_length_and_no_faster(unit: str) -> None:
    find_credential(SECRET)  # what is loaded once is loaded
    short, long = (steps(find_credential, unit * count) for count in (500, 2000))
    assert long <= 4.5 * short + 200
