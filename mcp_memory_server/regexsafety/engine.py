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
_CHAR, _SPLIT, _LOOK, _ATOMIC = int(Op.CHAR), int(Op.SPLIT), int(Op.LOOK), int(Op.ATOMIC)
_COUNT, _END, _MATCH = int(Op.COUNT), int(Op.END), int(Op.MATCH)
_DECISIONS = frozenset((_SPLIT, _LOOK, _ATOMIC, _COUNT))
_ENDS = frozenset((_MATCH, _END))

Values: TypeAlias = tuple[int, ...]
"""What a thread carries: positions of captures and counters, -1 where unset."""
_End: TypeAlias = tuple[int, Values] | None
_State: TypeAlias = tuple[int, int, int, Values]
"""Instruction, position, loops whose round has consumed nothing yet, values."""
_Key: TypeAlias = int | tuple[int, Values]
_Frame: TypeAlias = tuple[_Key, int, _State, int]
"""A pending decision: its key, the second way, the state to try it with, the steps before it."""


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


_TRIED = -1
"""In a frame: the second way has been tried, or there is none."""
_BODY = -2
"""In a frame: the body of a LOOK or ATOMIC is running."""


class StepCounter:
    """Searches with one program; a new one is needed for each subject."""

    def __init__(
        self,
        program: Program,
        subject: Subject,
        budget: Budget,
        fold: Callable[[str], str] | None = None,
        ecma: bool = True,
    ) -> None:
        """``fold`` is how references compare without case; ``ecma`` chooses between its rules and Python's."""
        self._program = program
        self._subject = subject
        self._budget = budget
        self._fold = fold
        self._ecma = ecma
        edge = len(program.alphabet.characters)
        self._ahead = [1 << atom for atom in subject.atoms]
        self._ahead.append(1 << edge)
        self._memo: dict[_Key, tuple[int, _End]] = {}

    def search(self, first_start: int = 0, only_first: bool = False) -> Count:
        """Try every start from ``first_start`` on, as an unanchored search does."""
        total = 0
        length = len(self._subject.atoms)
        unset = (-1,) * self._program.slots
        for start in range(first_start, length + 1):
            self._budget.spend()
            steps, end = self._run((self._program.start, start, 0, unset))
            total += steps
            if end is not None:
                return Count(total, end[0], start)
            if only_first:
                break
        return Count(total, None, None)

    def _run(self, state: _State) -> tuple[int, _End]:  # noqa: C901, PLR0912, PLR0915  # the inner loop: a call for each step would cost more than the step
        """Steps and outcome from one state, with the pending decisions on a stack of our own.

        One long function, since a call for each step would cost more than the step.
        """
        program, ahead, memo = self._program, self._ahead, self._memo
        ops, args, nexts, alts = program.ops, program.args, program.nexts, program.alts
        width, length, plain = len(ahead), len(ops), not program.slots
        # A state with many values takes as much more time and memory.
        weight = 1 + program.slots // 4
        frames: list[_Frame] = []
        # The declarations spare the type checker from following the loop.
        pc: int
        position: int
        bits: int
        values: Values
        pc, position, bits, values = state
        steps: int = 0
        end: _End = None
        while True:
            op = ops[pc]
            if op == _CHAR:
                steps += 1
                if args[pc] & ahead[position]:
                    # EDGE is in no character set, so the position stays inside the subject.
                    position += 1
                    bits = 0
                    pc = nexts[pc]
                    continue
                end = None
            elif op >= _SPLIT and op in _DECISIONS:
                packed = (bits * length + pc) * width + position
                key: _Key = packed if plain else (packed, values)
                known: tuple[int, _End] | None = memo.get(key)
                if known is None:
                    self._budget.spend(weight)
                    if op == _SPLIT:
                        frames.append((key, alts[pc], (pc, position, bits, values), steps))
                        pc = nexts[pc]
                    elif op == _COUNT:
                        (pc, position, bits, values), second = self._count_ways((pc, position, bits, values))
                        frames.append((key, _TRIED if second is None else second[0], second or state, steps))
                    else:
                        frames.append((key, _BODY, (pc, position, bits, values), steps))
                        pc, bits = alts[pc], 0
                    steps = 1
                    continue
                steps += known[0]
                end = known[1]
                if op in (_LOOK, _ATOMIC):
                    following = self._resume((pc, position, bits, values), end)
                    if following is not None:
                        pc, position, bits, values = following
                        continue
                    end = None
            elif op in _ENDS:
                end = (position, values)
            else:
                used, moved = self._rare(op, pc, position, bits, values)
                steps += used
                if moved is not None:
                    pc, position, bits, values = moved
                    continue
                end = None
            steps, end, resumed = self._unwind(frames, steps, end)
            if resumed is None:
                return steps, end
            pc, position, bits, values = resumed

    def _unwind(self, frames: list[_Frame], steps: int, end: _End) -> tuple[int, _End, _State | None]:
        """Hand an outcome to the decisions that wait for it, until one goes on; its state, or None at the end."""
        memo = self._memo
        while frames:
            key, second_pc, origin, outer = frames[-1]
            if second_pc >= 0 and end is None:
                frames[-1] = (key, _TRIED, origin, outer)
                return steps, None, (second_pc, origin[1], origin[2], origin[3])
            memo[key] = (steps, end)
            frames.pop()
            steps += outer
            if second_pc == _BODY:
                resumed = self._resume(origin, end)
                end = None
                if resumed is not None:
                    return steps, None, resumed
        return steps, end, None

    def _resume(self, state: _State, end: _End) -> _State | None:
        """Where a LOOK or ATOMIC goes on after its body; None when it fails."""
        pc, position, bits, values = state
        following = self._program.nexts[pc]
        if self._program.ops[pc] == _ATOMIC:
            return None if end is None else (following, end[0], bits if end[0] == position else 0, end[1])
        negative = self._program.args[pc]
        if (end is None) != bool(negative):
            return None
        return (following, position, bits, values if end is None else end[1])

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

    def _rare(self, op: int, pc: int, position: int, bits: int, values: Values) -> tuple[int, _State | None]:  # noqa: C901, PLR0912  # the inner loop: a call for each step would cost more than the step
        """The instructions that decide nothing: steps used, and the state after it, or None when it fails."""
        program = self._program
        arg, following = program.args[pc], program.nexts[pc]
        holds = True
        match op:
            case Op.AHEAD:
                holds = bool(arg & self._ahead[position])
            case Op.OPEN:
                bits |= arg
            case Op.CHECK:
                if bits & arg:
                    bits, following = bits & ~arg, program.alts[pc]
                    holds = following != NOWHERE
            case Op.BACK:
                if position == 0 or not arg & self._ahead[position - 1]:
                    return 1, None
                return 1, (following, position - 1, 0, values)
            case Op.BEHIND:
                holds = bool(arg & self._behind(position))
            case Op.BOUNDARY:
                holds = bool(arg & self._behind(position)) != bool(arg & self._ahead[position])
            case Op.NO_BOUNDARY:
                holds = bool(arg & self._behind(position)) == bool(arg & self._ahead[position])
                # In CPython up to 3.13 there is no such place in an empty string.
                holds = holds and (self._ecma or len(self._ahead) > 1)
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
            return 0, ((following, position, bits, values) if self._ecma else None)
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
