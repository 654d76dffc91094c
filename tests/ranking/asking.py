"""Ask the ranking engine about facts given as plain texts."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from mcp_memory_server.ranking import Question, Row, SignatureBlock, encode_signature, rank

NOW = datetime(2026, 3, 16, 12, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
DAY_MS = 86_400_000


def row(number: int, text: str, **fields: object) -> Row:
    """A row for this text; `subject` and `tags` go into its signature, other fields into the row."""
    signed = {name: fields.pop(name) for name in ("subject", "tags") if name in fields}
    key = str(fields.pop("key", f"k-{number}"))
    signature = encode_signature(key="", text=text, **signed)  # pyright: ignore[reportArgumentType]
    return Row(number, key, None, NOW_MS, signature)._replace(**fields)


def block(texts: Iterable[str]) -> SignatureBlock:
    return SignatureBlock.from_rows(row(number, text) for number, text in enumerate(texts))


def numbers(blocks: Iterable[SignatureBlock], query: str, limit: int = 20) -> list[int]:
    return [record.number for record in rank(list(blocks), Question(query, NOW), limit)]


def asked(facts: Mapping[str, str], query: str) -> list[str]:
    """The names of the facts that the question finds, best first."""
    names = list(facts)
    return [names[number] for number in numbers([block(facts.values())], query)]


def found(fact: str, query: str) -> bool:
    """Whether the question finds this fact among others that have nothing to do with it."""
    others = ["zebras graze quietly", "Das Wetter bleibt schlecht", "猫が眠る", "лошадь скачет"]
    return numbers([block([*others, fact])], query)[:1] == [len(others)]
