"""Counts the work of the analysis. No clock: the same pattern gets the same verdict on every machine."""

from __future__ import annotations

from dataclasses import dataclass


class BudgetExceeded(Exception):
    """An allowance is used up; the message names the stage."""

    def __init__(self, stage: str) -> None:
        super().__init__(f"the {stage} budget is used up")
        self.stage = stage


@dataclass(slots=True)
class Budget:
    """An allowance of steps for one stage. A step is one edge, state or character looked at."""

    stage: str
    left: int

    def spend(self, steps: int = 1) -> None:
        """Take the steps off; raises BudgetExceeded when there are not enough."""
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded(self.stage)

    def part(self, steps: int) -> Budget:
        """A smaller allowance for one attempt; what it uses must be settled with ``settle``."""
        return Budget(self.stage, min(steps, max(self.left, 0)))

    def settle(self, part: Budget, granted: int) -> None:
        """Charge what an attempt has used of the ``granted`` steps."""
        self.left -= granted - max(part.left, 0)


@dataclass(frozen=True, slots=True)
class Limits:
    """The allowances of one check. With the defaults it answers within a second on one slow core."""

    tree_height: int = 50
    """Levels of the tree. Six calls deep for each, the compiler must fit on whatever stack the host has left."""
    positions: int = 1_500
    """Characters of the pattern after its counts are written out; beyond, large counts are approximated."""
    instructions: int = 12_000
    edges: int = 60_000
    pairs: int = 150_000
    """Steps of the search for ambiguities, for each automaton and each kind of ambiguity."""
    witness_steps: int = 40_000
    """Steps of the search for prefixes and suffixes."""
    pump_steps: int = 6_000
    """Steps of the search for better pumps, for each kind of ambiguity; when they are used up the search just ends."""
    counted_steps: int = 80_000
    """Engine steps for the confirmation of all candidates."""
    probe_steps: int = 8_000
    """Engine steps for guessed attacks; guessing just ends, too."""
    confirm_steps: int = 30_000
    """Engine steps to confirm what guessing suspects."""
    attempt_steps: int = 15_000
    """Engine steps for one subject."""
