"""The prioritised automaton of a program: states, and for each an ordered list of edges.

A state is "the next instruction, after a character of a certain kind", so `^`, `$`, `\\b` and lookarounds of one
character are decided exactly: what looks back by the kind, what looks ahead by the mask of the edge. Edges stand in
the order in which a backtracking matcher tries them, and an edge that is there twice is a way that it tries twice.
The search for a start is part of it: a state of lowest priority that reads anything and begins again (after
Weideman et al. 2016, "Analyzing matching time behavior of backtracking regular expression matchers").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .budget import Budget
from .program import NOWHERE, Op, Program

ACCEPT = -1
"""Target of an edge that ends the match; its mask says before which atoms (or EDGE)."""

SINK = -2
"""Target of an edge that ends the body of a lookaround."""

Edge: TypeAlias = tuple[int, int]
"""Target state and mask of atoms."""

_SEARCH = -3
"""Stands for an instruction number in the states that look for a start."""
_CHAR, _SPLIT, _OPEN, _CHECK, _LOOK = int(Op.CHAR), int(Op.SPLIT), int(Op.OPEN), int(Op.CHECK), int(Op.LOOK)
_BRANCHING = frozenset((_SPLIT, _LOOK))
_AHEAD, _MATCH, _END = int(Op.AHEAD), int(Op.MATCH), int(Op.END)


@dataclass(slots=True)
class Automaton:
    """States are numbered from 0, the start."""

    program: Program
    edges: list[list[Edge]] = field(default_factory=list[list[Edge]])
    failing_looks: frozenset[int] = frozenset()
    """The lookarounds that are assumed to fail; all others are assumed to succeed."""
    instructions: list[int] = field(default_factory=list[int])
    """The instruction that each state stands before; negative for the states that look for a start."""

    def is_search(self, state: int) -> bool:
        """Whether the state looks for a start."""
        return self.instructions[state] == _SEARCH

    def look(self, state: int) -> int:
        """The number of the lookahead whose body holds the state, or NOWHERE."""
        instruction = self.instructions[state]
        return NOWHERE if instruction < 0 else self.program.look_of[instruction]

    def successors(self, state: int) -> list[int]:
        """The states one character away, each once."""
        return list(dict.fromkeys(target for target, _ in self.edges[state] if target >= 0))


def build_automaton(
    program: Program, budget: Budget, search: bool = True, failing_looks: frozenset[int] = frozenset()
) -> Automaton:
    """Make the states that can be reached from the start.

    ``search`` adds the states that look for a start; ``failing_looks`` are LOOK instructions assumed to fail, all
    others are assumed to succeed.
    """
    return _Builder(program, budget, failing_looks).build(search)


def character_kinds(program: Program) -> list[int]:
    """Partition of the atoms and EDGE by what the instructions that look back can tell apart."""
    looking_back = (Op.BEHIND, Op.BOUNDARY, Op.NO_BOUNDARY)
    masks = {arg for op, arg in zip(program.ops, program.args, strict=True) if op in looking_back}
    kinds = [program.alphabet.everything | program.alphabet.edge]
    for mask in masks:
        kinds = [part for kind in kinds for part in (kind & mask, kind & ~mask) if part]
    return kinds


class _Builder:
    def __init__(self, program: Program, budget: Budget, failing_looks: frozenset[int]) -> None:
        self._program = program
        self._budget = budget
        self._failing = failing_looks
        self._kinds = character_kinds(program)
        self._edge = program.alphabet.edge
        self._everything = program.alphabet.everything
        self._states: dict[tuple[int, int], int] = {}
        self._automaton = Automaton(program, failing_looks=failing_looks)
        self._todo: list[tuple[int, int]] = []

    def build(self, search: bool) -> Automaton:
        first_kind = next(number for number, kind in enumerate(self._kinds) if kind & self._edge)
        start = self._program.start
        if search:
            search = any(
                self._closure(start, number) for number, kind in enumerate(self._kinds) if kind & self._everything
            )
        self._state(_SEARCH if search else start, first_kind)
        edges = self._automaton.edges
        for instruction, kind in self._todo:
            closed = self._closure(start if instruction == _SEARCH else instruction, kind)
            ordered = [edge for target, mask in closed for edge in self._by_kind(target, mask)]
            if instruction == _SEARCH:
                accepted = 0
                for target, mask in closed:
                    if target == ACCEPT:
                        accepted |= mask
                ordered.extend(self._by_kind(_SEARCH, self._everything & ~accepted))
            self._budget.spend(len(ordered) + 1)
            edges.append(ordered)
        return self._automaton

    def _state(self, instruction: int, kind: int) -> int:
        key = (instruction, kind)
        number = self._states.get(key)
        if number is None:
            number = self._states[key] = len(self._states)
            self._automaton.instructions.append(instruction)
            self._todo.append(key)
        return number

    def _by_kind(self, target: int, mask: int) -> list[Edge]:
        """The edge, or one for each kind of character that it may read."""
        if target in (ACCEPT, SINK):
            return [(target, mask)]
        if len(self._kinds) == 1:
            return [(self._state(target, 0), mask)]
        return [(self._state(target, number), mask & kind) for number, kind in enumerate(self._kinds) if mask & kind]

    def _closure(self, instruction: int, kind: int) -> list[Edge]:  # noqa: C901, PLR0912, PLR0915  # the inner loop: a call for each step would cost more than the step
        """(next instruction, mask) of all characters that can be read next, and acceptance, in order of trial.

        A choice is entered twice at most for the same atoms: once more is enough to see an ambiguity.
        """
        program = self._program
        ops, args, nexts, alts = program.ops, program.args, program.nexts, program.alts
        found: list[Edge] = []
        live = self._everything | self._edge
        once: dict[tuple[int, int], int] = {}
        twice: dict[tuple[int, int], int] = {}
        stack: list[tuple[int, int, int]] = [(instruction, 0, live)]
        steps = 0
        while stack:
            pc, bits, mask = stack.pop()
            mask &= live
            while mask:
                steps += 1
                op = ops[pc]
                if op == _CHAR:
                    mask &= args[pc]
                    if mask:
                        found.append((nexts[pc], mask))
                    break
                if op in _BRANCHING:
                    key = (pc, bits)
                    mask &= ~twice.get(key, 0)
                    seen = once.get(key, 0)
                    twice[key] = twice.get(key, 0) | (seen & mask)
                    once[key] = seen | mask
                    if op == _SPLIT:
                        stack.append((alts[pc], bits, mask))
                        pc = nexts[pc]
                    else:
                        if pc not in self._failing:
                            stack.append((nexts[pc], bits, mask))
                        pc = alts[pc]
                elif op == _OPEN:
                    bits |= args[pc]
                    pc = nexts[pc]
                elif op == _CHECK:
                    pc, bits = self._end_of_round(pc, bits)
                    if pc == NOWHERE:
                        break
                elif op == _AHEAD:
                    mask &= args[pc]
                    pc = nexts[pc]
                elif op == _END:
                    found.append((SINK, mask))
                    break
                elif op == _MATCH:
                    found.append((ACCEPT, mask))
                    live &= ~mask
                    break
                else:
                    mask &= self._condition(op, args[pc], kind)
                    pc = nexts[pc]
        self._budget.spend(steps)
        return found

    def _end_of_round(self, pc: int, bits: int) -> tuple[int, int]:
        arg = self._program.args[pc]
        return (self._program.alts[pc], bits & ~arg) if bits & arg else (self._program.nexts[pc], bits)

    def _condition(self, op: int, arg: int, kind: int) -> int:
        """The atoms that may follow a character of the kind, for the rarer assertions."""
        after = self._kinds[kind]
        match op:
            case Op.BEHIND:
                return -1 if after & arg else 0
            case Op.BOUNDARY:
                return ~arg if after & arg else arg
            case Op.NO_BOUNDARY:
                return arg if after & arg else ~arg
            case Op.LAST_NEWLINE:
                # The newline before the end is left to the engine: an edge sees one character ahead only.
                return self._edge
            case _:
                raise AssertionError(op)
