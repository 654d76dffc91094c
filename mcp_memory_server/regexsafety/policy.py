"""What a host does with each verdict, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .schema import Finding

Action: TypeAlias = Literal["keep", "warn", "rewrite", "strip", "drop"]
"""Keep as it is; keep and say so; put an equal safe pattern in its place, or strip; remove the keyword; remove the
tool."""

SHORT_ENOUGH = 1_000
"""With a `maxLength` up to this a quadratic pattern costs about a millisecond."""


@dataclass(frozen=True, slots=True)
class Policy:
    """An action for each verdict."""

    exponential: Action
    unknown: Action
    invalid: Action
    steep: Action
    """Polynomial of degree three or more: some 2,000 characters cost seconds."""
    quadratic: Action
    """Degree two without a short `maxLength` beside it."""
    quadratic_limited: Action
    """Degree two with one. Order of keywords is the validator's affair, so this is no proof."""
    safe: Action = "keep"

    def action_for(self, finding: Finding) -> Action:
        """What to do about one finding."""
        match finding.verdict:
            case "safe":
                return self.safe
            case "exponential":
                return self.exponential
            case "unknown":
                return self.unknown
            case "invalid":
                return self.invalid
            case "polynomial":
                return self._polynomial(finding)

    def _polynomial(self, finding: Finding) -> Action:
        if (finding.degree or 2) > 2:
            return self.steep
        if finding.max_length is not None and finding.max_length <= SHORT_ENOUGH:
            return self.quadratic_limited
        return self.quadratic


POLICIES: dict[str, Policy] = {
    "reject": Policy("drop", "drop", "drop", "drop", quadratic="drop", quadratic_limited="warn"),
    "strip": Policy("strip", "strip", "strip", "strip", quadratic="strip", quadratic_limited="warn"),
    "rewrite": Policy("rewrite", "rewrite", "strip", "rewrite", quadratic="rewrite", quadratic_limited="rewrite"),
    "warn": Policy("warn", "warn", "warn", "warn", quadratic="warn", quadratic_limited="warn"),
}
"""`reject` is the default for tools from a server that nobody has looked at."""
