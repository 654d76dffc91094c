"""What a turn is answered with: a digest, its text, and as much of both as a token budget holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mcp_memory_server.block import Moment, render_block
from mcp_memory_server.digest import DigestEntry, MemoryDigest
from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import Group
from mcp_memory_server.recall import TokenBudget, brief, fit_to_budget

from .why import reasons
from .wiring import Wiring


def cut_text(fact: str, chars: int) -> str:
    """The beginning of a fact, as the block has it."""
    return fact if len(fact) <= chars else f"{fact[:chars]}… (cut, {len(fact)} characters)"


@dataclass(frozen=True, slots=True)
class Offered:
    """A digest, whether it can be asked for again by its id, and how much of a replay was erased since.

    `withheld` is how many keys at its scopes have a record above the session's ceiling; None for anybody but an
    administrator. `query`, `ranks`, the place of each key among what was found, and `expanded`, the ids of what came
    along one hop, explain the digest (`why`). A turn with an id has none of them: it is answered the same when it
    is asked again, and the journal keeps no word of a question.

    Where a token budget was given, `text` is what fits it. `shown_chars` is there when even the only entry had to be
    cut: the text shows so much of its fact.
    """

    digest: MemoryDigest
    journaled: bool
    erased: int = 0
    withheld: int | None = None
    query: str = ""
    ranks: Mapping[str, int] = field(default_factory=dict[str, int])
    expanded: frozenset[str] = frozenset()
    text: str | None = None
    shown_chars: int | None = None

    def shown_text(self, entry: DigestEntry) -> str:
        """As much of an entry's fact as the text shows."""
        return entry.text if self.shown_chars is None else cut_text(entry.text, self.shown_chars)

    def excerpts(self) -> list[dict[str, Any]]:
        """The entries as data, where the text shows no whole one; none otherwise."""
        if self.shown_chars is None:
            return []
        parts = {"id", "key", "scope", "origin", "version", "updated_at"}
        return [
            entry.model_dump(mode="json", include=parts) | {"text": self.shown_text(entry), "cut": True}
            for entry in self.digest.entries
        ]

    def why(self) -> dict[str, dict[str, Any]]:
        """Why each entry is there, by its id; see `why.reasons`. Empty for what has an id to be repeated by."""
        return reasons(self.digest.entries, self.query, self.ranks, self.expanded) if self.ranks else {}


Render = Callable[[Offered], str]


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer becomes the text that a token budget is about; `short` is one with less around the facts.

    Data have no short form, and none in which half a fact stands alone: what they cannot hold is refused.
    """

    render: Render
    short: Callable[[MemoryDigest], str] | None = brief


def block_text(wiring: Wiring, offered: Offered) -> str:
    """The text that a host puts into the prompt."""
    if offered.text is not None:
        return offered.text
    digest, longest = offered.digest, wiring.limits.max_fact_chars
    return render_block(
        digest.entries,
        writable=Group.WRITE in wiring.provider.capabilities.groups,
        partial=digest.partial,
        max_fact_chars=longest if offered.shown_chars is None else min(longest, offered.shown_chars),
        moment=Moment(digest.as_of, digest.known_at),
    )


@dataclass(frozen=True, slots=True)
class Fitting:
    """Makes an answer fit its token budget, if it has one."""

    budget: TokenBudget | None
    form: Form

    @classmethod
    def of(cls, wiring: Wiring, max_tokens: int | None, form: Form | None = None) -> Fitting:
        """
        Raises:
            InvalidInput: fewer tokens than the smallest budget.
        """
        budget = None if max_tokens is None else TokenBudget(max_tokens, wiring.estimate)
        return cls(budget, form or Form(partial(block_text, wiring)))

    def fitted(self, offered: Offered, upto: Callable[[int], MemoryDigest]) -> Offered:
        """The answer with as many of its entries as fit. `upto` gives the digest of at most so many.

        Raises:
            InvalidInput: the budget does not hold the beginning of a single fact as data.
        """
        if self.budget is None:
            return offered

        def render(digest: MemoryDigest, chars: int | None) -> str:
            return self.form.render(replace(offered, digest=digest, shown_chars=chars))

        fitted = fit_to_budget(upto, len(offered.digest.entries), render, self.budget, self.form.short)
        fits = replace(offered, digest=fitted.digest, text=fitted.text, shown_chars=fitted.shown_chars)
        if self.form.short is None and fitted.text != render(fitted.digest, fitted.shown_chars):
            few = self.budget.max_tokens
            raise InvalidInput.of("max_tokens", f"is {few}, too few for a fact as data: give more, or read the block")
        return fits

    def replayed(self, offered: Offered) -> Offered:
        """A digest of before with as many of its entries as fit, in the order in which they stand."""
        whole = offered.digest

        def upto(most: int) -> MemoryDigest:
            dropped = whole.entries[most:]
            left_out = {
                "omitted": whole.omitted + len(dropped),
                "pinned_omitted": whole.pinned_omitted + sum(entry.pinned for entry in dropped),
            }
            return whole.model_copy(update={"entries": whole.entries[:most], **left_out})

        return self.fitted(offered, upto)
