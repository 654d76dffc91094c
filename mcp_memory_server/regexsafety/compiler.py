"""Tree to program, exactly for the engine or simplified for the automaton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import syntax
from .alphabet import Alphabet
from .budget import BudgetExceeded
from .program import NOWHERE, Counter, Loop, Op, Program, ReferenceRule
from .syntax import Anchor, Mode, Node, Place

NEVER_REACHED = 20_000
"""A loop that must run so often is never left on the subjects that matter."""
UNROLL_ALWAYS = 3
"""Counts up to this one are never approximated."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How faithful the program is."""

    unroll: int
    """Repetitions with a larger count are counted (exact) or become unbounded loops (approximate)."""
    exact: bool
    """True for the engine. False turns a reference into a copy of its group and an atomic group into a plain one."""
    conditional_captures: bool = True
    """ECMA-262 rules: an empty round fails, captures are forgotten at each round."""
    instructions: int = 12_000
    """BudgetExceeded when the program would grow longer."""


def unrolled_size(node: Node, unroll: int) -> int:
    """How many character instructions the tree becomes when counts up to ``unroll`` are written out."""
    match node:
        case syntax.Chars() | syntax.Reference():
            return 1
        case syntax.Repeat(body, least, most):
            rounds = max(least, most if most is not None else least + 1, 1)
            return unrolled_size(body, unroll) * (rounds if rounds <= unroll else 2)
        case _:
            return sum(unrolled_size(child, unroll) for child in syntax.children(node))


def is_nullable(node: Node) -> bool:
    """Whether the node may match without consuming anything."""
    match node:
        case syntax.Chars():
            return False
        case syntax.Sequence(items):
            return all(is_nullable(item) for item in items)
        case syntax.Choice(branches):
            return any(is_nullable(branch) for branch in branches)
        case syntax.Conditional(_, met, unmet):
            return is_nullable(met) or is_nullable(unmet)
        case syntax.Repeat():
            return node.least == 0 or is_nullable(node.body)
        case syntax.Group() | syntax.Atomic():
            return is_nullable(node.body)
        case syntax.Reference() | syntax.Look() | syntax.Anchor():
            return True


def compile_program(tree: Node, alphabet: Alphabet, options: CompileOptions) -> Program:
    """Write the program; raises BudgetExceeded when it grows too long."""
    return _Compiler(tree, alphabet, options).compile(tree)


def one_character_mask(node: Node, alphabet: Alphabet, ahead: bool) -> int | None:
    """The mask that a lookaround body of one character (or an edge of the input) asks for, else None."""
    match node:
        case syntax.Chars(ranges):
            return alphabet.masks[ranges]
        case syntax.Choice(branches):
            masks = [one_character_mask(branch, alphabet, ahead) for branch in branches]
            total = 0
            for mask in masks:
                if mask is None:
                    return None
                total |= mask
            return total
        case Anchor(Place.END, _) if ahead:
            return alphabet.edge
        case Anchor(Place.START, _) if not ahead:
            return alphabet.edge
        case Anchor(Place.END_LINE, ranges) if ahead:
            return alphabet.edge | alphabet.masks[ranges]
        case Anchor(Place.START_LINE, ranges) if not ahead:
            return alphabet.edge | alphabet.masks[ranges]
        case _:
            return None


class _Compiler:
    def __init__(self, tree: Node, alphabet: Alphabet, options: CompileOptions) -> None:
        self._options = options
        self._alphabet = alphabet
        self._program = Program(alphabet)
        self._loop = NOWHERE
        self._look_number = NOWHERE
        self._looks = 0
        self._bits: dict[int, int] = {}
        self._open_groups: set[int] = set()
        self._groups = {node.index: node for node in syntax.walk(tree) if isinstance(node, syntax.Group)}
        if options.exact:
            self._slots = {index: 2 * number for number, index in enumerate(self._groups)}
            self._program.slots = 2 * len(self._groups)
        self._loop_numbers: dict[int, int] = {}
        self._end = NOWHERE

    def compile(self, tree: Node) -> Program:
        program = self._program
        match_at = self._emit(Op.MATCH)
        self._end = self._emit(Op.END)
        program.start = self._node(tree, match_at, backward=False)
        return program

    def _emit(self, op: Op, arg: int = 0, following: int = NOWHERE, alternative: int = NOWHERE) -> int:
        program = self._program
        if len(program.ops) >= self._options.instructions:
            raise BudgetExceeded("program size")
        return program.emit(op, arg, following, alternative, self._loop, self._look_number)

    def _node(self, node: Node, following: int, backward: bool) -> int:  # noqa: C901, PLR0912  # one case for each kind of node
        """Write the node in front of ``following`` and return where it begins."""
        match node:
            case syntax.Chars(ranges):
                op = Op.BACK if backward else Op.CHAR
                return self._emit(op, self._alphabet.masks[ranges], following)
            case syntax.Sequence(items):
                for item in items if backward else reversed(items):
                    following = self._node(item, following, backward)
                return following
            case syntax.Choice(branches):
                return self._choice([self._node(branch, following, backward) for branch in branches])
            case syntax.Repeat():
                return self._repeat(node, following, backward)
            case syntax.Group():
                return self._group(node, following, backward)
            case syntax.Anchor():
                return self._anchor(node, following)
            case syntax.Look():
                return self._look(node, following)
            case syntax.Atomic(body):
                if not self._options.exact:
                    self._program.relaxed = True
                    return self._node(body, following, backward)
                return self._emit(Op.ATOMIC, 0, following, self._node(body, self._end, backward))
            case syntax.Reference():
                return self._reference(node, following, backward)
            case syntax.Conditional(index, met, unmet):
                ways = [self._node(way, following, backward) for way in (met, unmet)]
                if self._options.exact and index in self._groups:
                    return self._emit(Op.CONDITION, self._slots[index] + 1, ways[0], ways[1])
                self._program.relaxed = True
                return self._choice(ways)

    def _choice(self, entries: list[int]) -> int:
        entry = entries[-1]
        for preferred in reversed(entries[:-1]):
            entry = self._emit(Op.SPLIT, 0, preferred, entry)
        return entry

    def _anchor(self, node: Anchor, following: int) -> int:
        mask, edge = self._alphabet.masks[node.ranges], self._alphabet.edge
        match node.place:
            case Place.START:
                return self._emit(Op.BEHIND, edge, following)
            case Place.START_LINE:
                return self._emit(Op.BEHIND, edge | mask, following)
            case Place.END:
                return self._emit(Op.AHEAD, edge, following)
            case Place.END_LINE:
                return self._emit(Op.AHEAD, edge | mask, following)
            case Place.END_OR_LAST_NEWLINE:
                self._program.relaxed = True
                return self._emit(Op.LAST_NEWLINE, mask, following)
            case Place.WORD:
                return self._emit(Op.BOUNDARY, mask, following)
            case Place.NOT_WORD:
                return self._emit(Op.NO_BOUNDARY, mask, following)

    def _look(self, node: syntax.Look, following: int) -> int:
        mask = one_character_mask(node.body, self._alphabet, node.ahead)
        if mask is not None:
            if node.negative:
                mask ^= self._alphabet.everything | self._alphabet.edge
            return self._emit(Op.AHEAD if node.ahead else Op.BEHIND, mask, following)
        self._program.relaxed = True
        if not self._options.exact and not node.ahead:
            return self._emit(Op.LOOK, int(node.negative), following, self._emit(Op.AHEAD, 0, self._end))
        outer, self._look_number = self._look_number, self._looks
        self._looks += 1
        body = self._node(node.body, self._end, backward=not node.ahead)
        self._look_number = outer
        return self._emit(Op.LOOK, int(node.negative), following, body)

    def _group(self, node: syntax.Group, following: int, backward: bool) -> int:
        if not self._options.exact:
            return self._inside(node, lambda: self._node(node.body, following, backward))
        first, second = (0, 1) if backward else (1, 0)
        following = self._emit(Op.SAVE, self._slots[node.index] + first, following)
        body = self._node(node.body, following, backward)
        return self._emit(Op.SAVE, self._slots[node.index] + second, body)

    def _inside(self, group: syntax.Group, write: Callable[[], int]) -> int:
        """Write while the group counts as open: a reference to it from within matches nothing."""
        fresh = group.index not in self._open_groups
        self._open_groups.add(group.index)
        entry = write()
        if fresh:
            self._open_groups.discard(group.index)
        return entry

    def _reference(self, node: syntax.Reference, following: int, backward: bool) -> int:
        group = self._groups.get(node.index)
        if group is None:
            return following
        if self._options.exact:
            self._program.references.append(ReferenceRule(self._slots[node.index], node.fold_case, backward))
            return self._emit(Op.REFERENCE, len(self._program.references) - 1, following)
        self._program.relaxed = True
        if node.index in self._open_groups:
            return following
        return self._inside(group, lambda: self._node(group.body, following, backward))

    def _repeat(self, node: syntax.Repeat, following: int, backward: bool) -> int:
        if node.mode is Mode.POSSESSIVE:
            greedy = syntax.Repeat(node.body, node.least, node.most, Mode.GREEDY, node.span)
            return self._node(syntax.Atomic(greedy), following, backward)
        rounds = node.least if node.most is None else node.most
        if rounds <= max(self._options.unroll, UNROLL_ALWAYS):
            return self._unrolled(node, node.least, node.most, following, backward)
        if self._options.exact:
            return self._counted(node, following, backward)
        self._program.relaxed = True
        if node.least >= NEVER_REACHED:
            following = self._emit(Op.AHEAD, 0, following)
        return self._unrolled(node, min(node.least, 1), None, following, backward)

    def _unrolled(self, node: syntax.Repeat, least: int, most: int | None, following: int, backward: bool) -> int:
        outer = self._loop
        if most is None:
            self._loop = self._loop_number(node)
            following = self._star(node, following, backward)
        else:
            leave = following
            for _ in range(most - least):
                entry = self._round(node, following, leave, backward)
                following = self._split(node, entry, leave)
        for _ in range(least):
            following = self._plain_round(node, following, backward)
        self._loop = outer
        return following

    def _star(self, node: syntax.Repeat, leave: int, backward: bool) -> int:
        split = self._emit(Op.SPLIT)
        entry = self._round(node, split, leave, backward)
        first, second = (leave, entry) if node.mode is Mode.LAZY else (entry, leave)
        self._program.nexts[split], self._program.alts[split] = first, second
        return split

    def _split(self, node: syntax.Repeat, entry: int, leave: int) -> int:
        first, second = (leave, entry) if node.mode is Mode.LAZY else (entry, leave)
        return self._emit(Op.SPLIT, 0, first, second)

    def _round(self, node: syntax.Repeat, following: int, leave: int, backward: bool) -> int:
        """One optional round: it must consume something, or (Python) the loop ends."""
        if not is_nullable(node.body):
            return self._plain_round(node, following, backward)
        bit = 1 << self._bits.setdefault(id(node), len(self._bits))
        otherwise = NOWHERE if self._options.conditional_captures else leave
        check = self._emit(Op.CHECK, bit, following, otherwise)
        return self._emit(Op.OPEN, bit, self._plain_round(node, check, backward))

    def _plain_round(self, node: syntax.Repeat, following: int, backward: bool) -> int:
        entry = self._node(node.body, following, backward)
        if not (self._options.exact and self._options.conditional_captures and self._groups):
            return entry
        slots = 0
        for inner in syntax.walk(node.body):
            if isinstance(inner, syntax.Group):
                slots |= 3 << self._slots[inner.index]
        return self._emit(Op.CLEAR, slots, entry) if slots else entry

    def _counted(self, node: syntax.Repeat, following: int, backward: bool) -> int:
        program, outer = self._program, self._loop
        self._loop = self._loop_number(node)
        # The rounds that must be run may all be empty where the body may, so none needs to be asked for.
        least = 0 if is_nullable(node.body) else node.least
        counter = Counter(program.slots, least, node.most, node.mode is Mode.LAZY)
        program.slots += 1
        program.counters.append(counter)
        count = self._emit(Op.COUNT, len(program.counters) - 1, NOWHERE, following)
        program.nexts[count] = self._round(node, count, following, backward)
        reset = self._emit(Op.RESET, counter.slot, count)
        self._loop = outer
        return reset

    def _loop_number(self, node: syntax.Repeat) -> int:
        known = self._loop_numbers.get(id(node))
        if known is None:
            known = self._loop_numbers[id(node)] = len(self._program.loops)
            self._program.loops.append(Loop(node.span, self._loop, isinstance(node.body, syntax.Chars)))
        return known
