"""A backtracking matcher that counts its steps.

It takes the steps of an engine without memory, as V8 and CPython are: the same way tried twice counts twice. It does
not *take* them twice, though. What happens from one instruction at one position with one set of captures is a
function of these three, so each such state is run once and its cost is added wherever the engine without memory
would have run it again. Counts of 2**100 steps cost as little as those of 2**10, and they are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .budget import Budget
from .program import NOWHERE, Op, Program

# Plain integers: the inner loop compares nothing else.
_CHAR, _BACK, _SPLIT, _OPEN, _CHECK = int(Op.CHAR), int(Op.BACK), int(Op.SPLIT), int(Op.OPEN), int(Op.CHECK)
_AHEAD, _BEHIND, _LOOK, _ATOMIC = int(Op.AHEAD), int(Op.BEHIND), int(Op.LOOK), int(Op.ATOMIC)
_END, _MATCH, _COUNT = int(Op.END), int(Op.MATCH), int(Op.COUNT)

Values: TypeAlias = tuple[int, ...]
"""What a thread carries: positions of captures and counters, -1 where unset."""
_End: TypeAlias = tuple[int, Values] | None
_State: TypeAlias = tuple[int, int, int, Values]


@dataclass(frozen=True, slots=True)
class Count:
    """The outcome of one search."""

    steps: int
    """Characters compared and choices made, over all starts up to the first match."""
    end: int | None
    """Where the first match ends, or None."""
    start: int | None
    """Where it begins, or None."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A string to search."""

    codes: Sequence[int]
    atoms: Sequence[int]


@dataclass(slots=True)
class _Frame:
    """A pending decision: ``kind`` is SPLIT, LOOK or ATOMIC."""

    kind: int
    state: _State
    alternative: _State | None
    outer_steps: int


class StepCounter:
    """Searches with one program; a new one is needed for each subject."""

    def __init__(
        self,
        program: Program,
        subject: Subject,
        budget: Budget,
        fold: Callable[[str], str] | None = None,
        unset_matches: bool = True,
    ) -> None:
        """``fold`` is how references compare without case; ``unset_matches`` is what ECMA-262 says of unset groups."""
        self._program = program
        self._subject = subject
        self._budget = budget
        self._fold = fold
        self._unset_matches = unset_matches
        edge = len(program.alphabet.characters)
        self._ahead = [1 << atom for atom in subject.atoms]
        self._ahead.append(1 << edge)
        self._memo: dict[_State, tuple[int, _End]] = {}

    def search(self, first_start: int = 0, only_first: bool = False) -> Count:
        """Try every start from ``first_start`` on, as an unanchored search does."""
        total = 0
        length = len(self._subject.atoms)
        unset = (-1,) * self._program.slots
        for start in range(first_start, length + 1):
            steps, end = self._run((self._program.start, start, 0, unset))
            total += steps
            if end is not None:
                return Count(total, end[0], start)
            if only_first:
                break
        return Count(total, None, None)

    def _run(self, state: _State) -> tuple[int, _End]:
        """Steps and outcome from one state, pending decisions on a stack of our own."""
        frames: list[_Frame] = []
        steps = 0
        memo = self._memo
        pending: _State | None = state
        while True:
            assert pending is not None
            used, stop, end = self._advance(pending)
            steps += used
            if stop is not None:
                known = memo.get(stop)
                if known is None:
                    pending = self._enter(stop, frames, steps)
                    steps = 1
                    continue
                steps += known[0]
                end = known[1]
                pending = self._after_known(stop, end)
                if pending is not None:
                    continue
                if self._program.ops[stop[0]] != _SPLIT:
                    end = None
            steps, pending, end = self._return(frames, steps, end)
            if pending is None:
                return steps, end

    def _after_known(self, stop: _State, end: _End) -> _State | None:
        """Where a LOOK or ATOMIC with a known outcome goes on; None for a choice, or when it fails."""
        op = self._program.ops[stop[0]]
        if op == _LOOK or op == _ATOMIC:
            return self._resume(op, stop, end)
        return None

    def _resume(self, op: int, state: _State, end: _End) -> _State | None:
        pc, position, bits, values = state
        following = self._program.nexts[pc]
        if op == _ATOMIC:
            return None if end is None else (following, end[0], bits if end[0] == position else 0, end[1])
        negative = self._program.args[pc]
        if (end is None) != bool(negative):
            return None
        return (following, position, bits, values if end is None else end[1])

    def _enter(self, state: _State, frames: list[_Frame], outer_steps: int) -> _State:
        """Push a decision and return the first way to try."""
        self._budget.spend()
        pc, position, bits, values = state
        op = self._program.ops[pc]
        if op == _SPLIT:
            nexts, alts = self._program.nexts[pc], self._program.alts[pc]
            frames.append(_Frame(_SPLIT, state, (alts, position, bits, values), outer_steps))
            return (nexts, position, bits, values)
        if op == _COUNT:
            first, second = self._count_ways(state)
            frames.append(_Frame(_SPLIT, state, second, outer_steps))
            return first
        frames.append(_Frame(op, state, None, outer_steps))
        return (self._program.alts[pc], position, 0, values)

    def _count_ways(self, state: _State) -> tuple[_State, _State | None]:
        """The ways on from a counted loop, in order."""
        pc, position, bits, values = state
        counter = self._program.counters[self._program.args[pc]]
        done = values[counter.slot]
        # Beyond the last bound that matters the count is kept still, so that states stay few.
        grown = min(done + 1, counter.least if counter.most is None else counter.most)
        again: _State = (self._program.nexts[pc], position, bits, _with(values, counter.slot, grown))
        leave: _State = (self._program.alts[pc], position, bits, _with(values, counter.slot, -1))
        if done < counter.least:
            return again, None
        if counter.most is not None and done >= counter.most:
            return leave, None
        return (leave, again) if counter.lazy else (again, leave)

    def _return(self, frames: list[_Frame], steps: int, end: _End) -> tuple[int, _State | None, _End]:
        """Hand an outcome to the decisions that wait for it, until one has another way to try."""
        while frames:
            frame = frames[-1]
            if frame.kind == _SPLIT:
                if end is None and frame.alternative is not None:
                    pending = frame.alternative
                    frame.alternative = None
                    return steps, pending, None
                self._memo[frame.state] = (steps, end)
                frames.pop()
                steps += frame.outer_steps
                continue
            self._memo[frame.state] = (steps, end)
            frames.pop()
            steps += frame.outer_steps
            pending = self._resume(frame.kind, frame.state, end)
            if pending is not None:
                return steps, pending, None
            end = None
        return steps, None, end

    def _advance(self, state: _State) -> tuple[int, _State | None, _End]:
        """Run to the next decision: (steps, decision, None), or to the outcome: (steps, None, outcome)."""
        program, ahead = self._program, self._ahead
        ops, args, nexts = program.ops, program.args, program.nexts
        pc, position, bits, values = state
        steps = 0
        while True:
            op = ops[pc]
            if op == _CHAR:
                steps += 1
                if not args[pc] & ahead[position]:
                    return steps, None, None
                # EDGE is in no character set, so the position stays inside the subject.
                position += 1
                bits = 0
                pc = nexts[pc]
            elif op == _SPLIT or op == _LOOK or op == _ATOMIC or op == _COUNT:
                self._budget.spend(steps + 1)
                return steps, (pc, position, bits, values), None
            elif op == _AHEAD:
                if not args[pc] & ahead[position]:
                    return steps, None, None
                pc = nexts[pc]
            elif op == _OPEN:
                bits |= args[pc]
                pc = nexts[pc]
            elif op == _CHECK:
                if bits & args[pc]:
                    bits &= ~args[pc]
                    pc = program.alts[pc]
                    if pc == NOWHERE:
                        return steps, None, None
                else:
                    pc = nexts[pc]
            elif op == _MATCH or op == _END:
                return steps, None, (position, values)
            elif op == _BACK:
                steps += 1
                if position == 0 or not args[pc] & ahead[position - 1]:
                    return steps, None, None
                position -= 1
                bits = 0
                pc = nexts[pc]
            else:
                used, moved = self._rare(op, pc, position, bits, values)
                steps += used
                if moved is None:
                    return steps, None, None
                pc, position, bits, values = moved

    def _rare(self, op: int, pc: int, position: int, bits: int, values: Values) -> tuple[int, _State | None]:
        """The instructions that few patterns have."""
        program = self._program
        arg, following = program.args[pc], program.nexts[pc]
        holds = True
        match op:
            case Op.BEHIND:
                holds = bool(arg & self._behind(position))
            case Op.BOUNDARY:
                holds = bool(arg & self._behind(position)) != bool(arg & self._ahead[position])
            case Op.NO_BOUNDARY:
                holds = bool(arg & self._behind(position)) == bool(arg & self._ahead[position])
            case Op.LAST_NEWLINE:
                left = len(self._subject.atoms) - position
                holds = left == 0 or (left == 1 and bool(arg & self._ahead[position]))
            case Op.SAVE:
                values = _with(values, arg, position)
            case Op.RESET:
                values = _with(values, arg, 0)
            case Op.CLEAR:
                values = tuple(-1 if arg >> slot & 1 else value for slot, value in enumerate(values))
            case Op.CONDITION:
                following = following if values[arg] >= 0 else program.alts[pc]
            case _:
                return self._reference(pc, position, bits, values)
        return 0, ((following, position, bits, values) if holds else None)

    def _behind(self, position: int) -> int:
        return self._ahead[position - 1] if position else self._ahead[-1]

    def _reference(self, pc: int, position: int, bits: int, values: Values) -> tuple[int, _State | None]:
        """Compare with a capture, one step a character, as the engines do."""
        rule = self._program.references[self._program.args[pc]]
        begin, end = values[rule.slot], values[rule.slot + 1]
        following = self._program.nexts[pc]
        if begin < 0 or end < 0:
            return 0, ((following, position, bits, values) if self._unset_matches else None)
        length = end - begin
        at = position - length if rule.backward else position
        if at < 0 or at + length > len(self._subject.codes):
            return 1, None
        codes = self._subject.codes
        fold = self._fold if rule.fold_case else None
        for offset in range(length):
            left, right = codes[begin + offset], codes[at + offset]
            if left != right and not (fold and fold(chr(left)) == fold(chr(right))):
                self._budget.spend(offset)
                return offset + 1, None
        self._budget.spend(length)
        moved = at if rule.backward else at + length
        return length, (following, moved, 0 if length else bits, values)


def _with(values: Values, slot: int, value: int) -> Values:
    return (*values[:slot], value, *values[slot + 1 :])


def subject_of(text: Sequence[int], program: Program) -> Subject:
    """Code points (or units) with their atoms."""
    alphabet = program.alphabet
    known: dict[int, int] = {}
    atoms: list[int] = []
    for code in text:
        atom = known.get(code)
        if atom is None:
            atom = known[code] = alphabet.atom_of(code)
        atoms.append(atom)
    return Subject(text, atoms)
