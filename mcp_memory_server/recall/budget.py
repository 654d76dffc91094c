"""A hard ceiling on the tokens of a text: what fits is shown, what does not is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.block import FENCE_CLOSE, FENCE_OPEN, harmless_key, harmless_scope, harmless_text
from mcp_memory_server.digest import MemoryDigest
from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.records import MemoryRecord

from .tokens import Estimator, estimate_tokens

MIN_TOKENS: Final = 100
"""The smallest budget: it holds the fence, what says that something is missing, and the beginning of a note."""

# An excerpt shorter than this says less than the note about itself does.
SHORTEST_CUT: Final = 24

_NOTHING: Final = "Nothing is remembered for this request."


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """At most `max_tokens`, as `estimate` counts them: by default high for any model, or exactly by its own tokenizer.

    Raises:
        InvalidInput: fewer than `MIN_TOKENS`.
    """

    max_tokens: int
    estimate: Estimator = estimate_tokens

    def __post_init__(self) -> None:
        if self.max_tokens < MIN_TOKENS:
            raise InvalidInput.of("max_tokens", f"is {self.max_tokens}; the smallest budget is {MIN_TOKENS}")

    def holds(self, text: str) -> bool:
        return self.estimate(text) <= self.max_tokens


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest count up to `most` that fits, where what holds for a count holds for smaller ones; 0 needs no test.

    `most` itself is tried first: all of something may be shorter than all but one and a line that says so.
    """
    if most <= 0 or fits(most):
        return max(most, 0)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


# --- digests ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FittedDigest:
    """A digest of as many entries as the budget holds, its text, and whether its only entry had to be cut.

    `digest.omitted` counts what was left out, for want of room too.
    """

    digest: MemoryDigest
    text: str
    cut: bool = False


def fit_to_budget(
    resolve: Callable[[int], MemoryDigest],
    most: int,
    render: Callable[[MemoryDigest, int | None], str],
    budget: TokenBudget,
) -> FittedDigest:
    """The digest of the most entries, up to `most`, whose text the budget holds.

    The best entry is never given up: where it alone is too long, it is cut and the text says so.

    Args:
        resolve: the digest of that many entries, e.g. `resolve_digest` with the ceiling left open. It chooses the
            entries and counts the omitted ones, so that a small budget and a small ceiling leave the same ones out.
        most: how many entries there may be at all.
        render: the text of a digest whose facts are cut to that many characters, e.g. `render_block`.
        budget: the ceiling on the text.
    """
    count = largest(most, lambda first: budget.holds(render(resolve(first), None)))
    digest = resolve(max(count, 1))
    if not digest.entries:
        whole = render(digest, None)
        return FittedDigest(digest, whole if budget.holds(whole) else fenced(_NOTHING))
    if count:
        return FittedDigest(digest, render(digest, None))
    best = digest.entries[0]
    chars = largest(len(best.text), lambda cut: budget.holds(render(digest, cut)))
    text = render(digest, chars) if chars >= SHORTEST_CUT else excerpt(best, digest.omitted, budget.holds)
    return FittedDigest(digest, text, cut=True)


def excerpt(record: MemoryRecord, omitted: int, holds: Callable[[str], bool]) -> str:
    """The beginning of one fact within the fence, who said it, and how much is missing: as much as `holds` lets stand.

    It comes down to a hundred bytes, which every ceiling holds.
    """
    said = "Stated by a person" if record.origin.author == "human" else "Concluded by the assistant"
    missing = f" {omitted} more {'is' if omitted == 1 else 'are'} left out." if omitted else ""
    parts = (harmless_scope(record.scope), harmless_key(record.key), harmless_text(record.text))
    longest = max(map(len, parts))
    whole = f"{said}; cut to fit, ask again with a larger budget.{missing}"
    if fits := largest(longest, lambda cut: holds(_cut(whole, parts, cut))):
        return _cut(whole, parts, fits)
    short = f"Cut; {omitted} more."
    return _cut(short, parts, max(1, largest(longest, lambda cut: holds(_cut(short, parts, cut)))))


def _cut(heading: str, parts: tuple[str, str, str], max_chars: int) -> str:
    """Scope, key and text alike are cut: any of them may be what is too long."""
    scope, key, text = (part if len(part) <= max_chars else f"{part[:max_chars]}…" for part in parts)
    return fenced(f"{heading}\n- [{scope}] {key}: {text}")


def fenced(text: str) -> str:
    """Text between the lines that mark what is remembered."""
    return f"{FENCE_OPEN}\n{text}\n{FENCE_CLOSE}"
