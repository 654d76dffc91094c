"""Draws an ambiguity: one string, and two ways in which the pattern reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .alphabet import Alphabet, build_alphabet
from .analysis import character_sets, tree_height
from .budget import Budget, BudgetExceeded, Limits
from .builder import InvalidPattern, ParsedPattern, UnsupportedPattern
from .compiler import UNROLL_ALWAYS, CompileOptions, compile_program
from .ecma_escapes import to_subject
from .ecma_parser import parse_ecma
from .program import NOWHERE, Op, Program
from .python_parser import parse_python
from .verdict import PatternVerdict

_ROUNDS = 3
_LONGEST_DRAWN = 60
_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One way through the pattern: where it begins, which instruction reads each character, where it arrives."""

    start: int
    instructions: tuple[int, ...]
    rounds: frozenset[int]
    """Positions at which an outer loop begins another round."""
    end: int


def explain(judged: PatternVerdict) -> str:
    """A few lines of text for a terminal: the pattern, its guilty loop, two readings of an attack, the sentence."""
    lines = [f"pattern  {_visible(judged.pattern)}"]
    if judged.loop is not None:
        before = len(_visible(judged.pattern[: judged.loop.start]))
        width = len(_visible(judged.pattern[judged.loop.start : judged.loop.end]))
        lines.append("loop     " + " " * before + "~" * max(1, width))
    lines.append(f"verdict  {judged.verdict}" + (f", degree {judged.degree}" if judged.degree else ""))
    if judged.witness is not None:
        lines.extend(_two_readings(judged))
        parts = " + ".join(f"{_quoted(fixed)} + {_quoted(pump)} * n" for fixed, pump in judged.witness.pumps)
        lines.append(f"attack   {parts} + {_quoted(judged.witness.suffix)}")
    lines.append(judged.reason)
    return "\n".join(lines)


def _two_readings(judged: PatternVerdict) -> list[str]:
    """The drawing, or nothing where the pattern is too intricate to draw."""
    assert judged.witness is not None
    fixed, pump = judged.witness.pumps[0]
    ecma = judged.dialect == "ecma"
    text = fixed + pump * _ROUNDS
    try:
        parsed = parse_ecma(judged.pattern, judged.flags) if ecma else parse_python(judged.pattern, judged.flags)
        if tree_height(parsed.tree) > Limits().tree_height:
            return []
        if ecma and not text.isascii():
            text = to_subject(text, "u" in judged.flags)
        if len(text) > _LONGEST_DRAWN:
            return []
        pair = _different_pair(parsed, text)
    except (InvalidPattern, UnsupportedPattern, BudgetExceeded):
        return []
    return [] if pair is None else _draw(text, *pair)


def _different_pair(parsed: ParsedPattern, text: str) -> tuple[Reading, Reading, Program] | None:
    """Two readings of the whole text that arrive at the same place, with the same start where there are such."""
    budget = Budget("drawing", _STEPS)
    alphabet: Alphabet = build_alphabet(character_sets(parsed.tree), parsed.last_code, budget)
    options = CompileOptions(UNROLL_ALWAYS, exact=False, conditional_captures=parsed.conditional_captures)
    program = compile_program(parsed.tree, alphabet, options)
    masks = [1 << alphabet.atom_of(ord(character)) for character in text]
    arrived: dict[int, Reading] = {}
    for start in range(len(text)):
        for reading in _readings(program, masks, start, budget):
            other = arrived.setdefault(reading.end, reading)
            if other != reading and (other.start, other.instructions, other.rounds) != (
                reading.start,
                reading.instructions,
                reading.rounds,
            ):
                return other, reading, program
    return None


def _readings(program: Program, masks: list[int], start: int, budget: Budget) -> Iterator[Reading]:
    """Every way to read the text from a start to its end, assertions aside, in the order of trial."""
    stack: list[tuple[int, int, tuple[int, ...], frozenset[int], int]] = [(program.start, start, (), frozenset(), 0)]
    heads = _heads(program)
    while stack:
        budget.spend()
        pc, position, read, rounds, bits = stack.pop()
        match program.ops[pc]:
            case Op.CHAR:
                if position == len(masks):
                    yield Reading(start, read, rounds, pc)
                elif program.args[pc] & masks[position]:
                    stack.append((program.nexts[pc], position + 1, (*read, pc), rounds, 0))
            case Op.SPLIT:
                if pc in heads and position > start:
                    rounds = rounds | {position}
                stack.append((program.alts[pc], position, read, rounds, bits))
                stack.append((program.nexts[pc], position, read, rounds, bits))
            case Op.OPEN:
                stack.append((program.nexts[pc], position, read, rounds, bits | program.args[pc]))
            case Op.CHECK if bits & program.args[pc]:
                continue
            case Op.END | Op.MATCH:
                continue
            case _:
                stack.append((program.nexts[pc], position, read, rounds, bits))


def _heads(program: Program) -> frozenset[int]:
    """The SPLITs that decide about another round of a loop of more than one character."""
    # A program is written from its end, so only the head of a loop points to a later instruction.
    return frozenset(
        pc
        for pc, op in enumerate(program.ops)
        if op == Op.SPLIT
        and program.loop_of[pc] != NOWHERE
        and not program.loops[program.loop_of[pc]].one_character
        and max(program.nexts[pc], program.alts[pc]) > pc
    )


def _draw(text: str, first: Reading, second: Reading, program: Program) -> list[str]:
    labels: dict[str, str] = {}
    subject = "".join(" " + (c if c.isprintable() and c != " " else "_" if c == " " else "?") for c in text)
    lines = [f"subject {subject}"]
    for name, reading in (("one way", first), ("another", second)):
        cells = "  " * reading.start
        for position, instruction in enumerate(reading.instructions, reading.start):
            label = labels.setdefault(_reader(program, instruction), chr(ord("A") + len(labels)))
            cells += ("|" if position in reading.rounds else " ") + label
        lines.append(f"{name} {cells}")
    lines.append("         " + "; ".join(f"{label} {reader}" for reader, label in labels.items()))
    return lines


def _reader(program: Program, instruction: int) -> str:
    """What reads a character: a loop of one character by its place, anything else by the loop that holds it."""
    number = program.loop_of[instruction]
    if number == NOWHERE:
        return f"outside all loops ({instruction})"
    loop = program.loops[number]
    place = f"{loop.span.start} to {loop.span.end}"
    return f"the loop at {place}" if loop.one_character else f"in the loop at {place}, part {instruction}"


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def _quoted(text: str) -> str:
    return f"'{_visible(text)}'"
