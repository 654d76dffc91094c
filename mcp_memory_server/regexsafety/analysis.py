"""From a parsed pattern to a verdict: candidates from automata, each confirmed by counting steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from . import syntax
from .alphabet import Alphabet, build_alphabet
from .ambiguity import Ambiguity, AmbiguityFinder, Link, Word
from .attack import Attack, Growth, measure_growth
from .automaton import Automaton, build_automaton
from .budget import Budget, BudgetExceeded, Limits
from .builder import ParsedPattern
from .casing import Casing, canonical
from .compiler import UNROLL_ALWAYS, CompileOptions, compile_program, unrolled_size
from .engine import StepCounter, Subject
from .extent import v8_backsearch, ways
from .path_count import PathCounter
from .probes import Probe, probes, scanning_probes, uniform_probes
from .program import NOWHERE, Op, Program
from .syntax import Span
from .witness import WitnessFinder

_FEW_WAYS = 2_000
"""A finite pattern with no more steps than this from one start is linear without further ado."""
_MANY_WAYS = 10**6
_EXPLOSIVE = 10**5
"""Steps for each character of the subject that no harmless finite pattern takes."""
_GLANCE = 2.6
"""How the growth of the steps itself grows when the pumps double: 2 is linear, 4 is quadratic."""
_UNIFORM_ATOMS = 8
_MOST_PROBES = 400
_FAIL_PASSES = 5
_TRIED_CANDIDATES = 12
_UNROLL_STEPS = (10**9, 256, 64, 16, UNROLL_ALWAYS)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An attack whose steps were counted."""

    attack: Attack
    growth: Growth
    loop: Span | None

    @property
    def rank(self) -> tuple[bool, int]:
        """Exponential before polynomial, then by degree."""
        return self.growth.exponential, self.growth.degree


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """What was found; ``exhausted`` names the budget that ran out before everything was looked at."""

    worst: Confirmed | None
    exhausted: str | None
    alphabet: Alphabet | None
    cost: int = 0
    """Steps taken, over all budgets."""
    scan: Confirmed | None = None
    """Quadratic growth by a lookahead alone, where nothing worse was found."""


def character_sets(tree: syntax.Node) -> Iterator[syntax.CharSet]:
    """The sets that the alphabet must tell apart."""
    for node in syntax.walk(tree):
        if isinstance(node, (syntax.Chars, syntax.Anchor)):
            yield node.ranges


def tree_height(tree: syntax.Node) -> int:
    """The longest way from the root to a leaf, without recursion."""
    height, level = 0, [tree]
    while level:
        height += 1
        level = [child for node in level for child in syntax.children(node)]
    return height


def analyse(parsed: ParsedPattern, casing: Casing, limits: Limits) -> AnalysisResult:
    """Judge a parsed pattern. Never raises for a valid pattern: what cannot be judged is ``exhausted``."""
    if tree_height(parsed.tree) > limits.tree_height:
        return AnalysisResult(None, "nesting depth", None)
    if ways(parsed.tree)[1] <= _FEW_WAYS:
        return AnalysisResult(None, None, None)
    try:
        return _Analysis(parsed, casing, limits).run()
    except BudgetExceeded as exceeded:
        return AnalysisResult(None, exceeded.stage, None, limits.edges)


class _Analysis:
    def __init__(self, parsed: ParsedPattern, casing: Casing, limits: Limits) -> None:
        self._allowed: list[tuple[Budget, int]] = []
        self._parsed = parsed
        self._limits = limits
        self._tree = parsed.tree
        self._fold = canonical(casing)
        self._alphabet = build_alphabet(
            character_sets(parsed.tree), parsed.last_code, self._allow("alphabet", limits.edges)
        )
        self._unroll = next(
            (step for step in _UNROLL_STEPS if unrolled_size(parsed.tree, step) <= limits.positions), UNROLL_ALWAYS
        )
        # One each, so that the search for the worse kind leaves something for the other.
        self._pump_budgets = tuple(self._allow("pump search", limits.pump_steps) for _ in (False, True))
        self._measured: set[Attack] = set()
        self._exact: Program | None = None
        self._too_long = False
        """Whether the exact program has been tried in vain."""
        self._paths: PathCounter | None = None
        self._counted = self._allow("step counting", limits.counted_steps)
        backsearch = v8_backsearch(parsed.tree) if parsed.conditional_captures else None
        self._backsearch = backsearch
        self._search = not parsed.sticky and backsearch is None
        self._worst: Confirmed | None = None
        self._doubtful = False
        """Whether there was an ambiguity; that no attack on it was found does not prove that there is none."""
        self._exhausted: str | None = None

    def _allow(self, stage: str, steps: int) -> Budget:
        budget = Budget(stage, steps)
        self._allowed.append((budget, steps))
        return budget

    def _cost(self) -> int:
        return sum(granted - budget.left for budget, granted in self._allowed)

    def _compile(self, unroll: int, exact: bool) -> Program:
        options = CompileOptions(unroll, exact, self._parsed.conditional_captures, self._limits.instructions)
        return compile_program(self._tree, self._alphabet, options)

    def run(self) -> AnalysisResult:
        """Pass after pass, until something exponential is found or all is looked at."""
        simplified = self._compile(self._unroll, exact=False)
        self._attempt(simplified, frozenset())
        if simplified.relaxed:
            looks = [pc for pc, op in enumerate(simplified.ops) if op == Op.LOOK]
            for look in looks[:_FAIL_PASSES]:
                self._attempt(simplified, frozenset((look,)))
        if self._has_counts():
            self._attempt(self._compile(UNROLL_ALWAYS, exact=False), frozenset())
        steps = self._limits.probe_steps
        if not self._is_exponential() and simplified.relaxed:
            self._probe(probes(self._tree, self._alphabet), steps)
        if self._worst is None and ways(self._tree, once=True)[0] > _MANY_WAYS:
            self._probe_explosion()
        if self._worst is None and self._doubtful:
            self._probe(uniform_probes(self._tree, self._alphabet, _UNIFORM_ATOMS), steps // 2)
            if not simplified.relaxed and self._worst is None:
                self._probe(probes(self._tree, self._alphabet), steps // 2)
        scan = self._probe_scans() if self._worst is None and self._exhausted is None else None
        return AnalysisResult(self._worst, self._exhausted, self._alphabet, self._cost(), scan)

    def _is_exponential(self) -> bool:
        return self._worst is not None and self._worst.growth.exponential

    def _probe(self, guesses: Iterator[Probe], steps: int) -> None:
        """Guessed attacks, each looked at closely only when a first glance shows more than linear growth."""
        guessing = self._allow("probing", steps)
        # What a suspect is confirmed with must not be the rest that the guesses before it have left.
        confirming = self._allow("step counting", self._limits.confirm_steps)
        try:
            for probe in islice(guesses, _MOST_PROBES):
                self._counted = guessing
                if self._looks_super_linear(probe.attack):
                    self._counted = confirming
                    self._note(probe.attack, probe.loop)
                if self._is_exponential():
                    return
        except BudgetExceeded:
            # Guessing may go on for ever; that it ends here says nothing about the pattern.
            return

    def _probe_scans(self) -> Confirmed | None:
        """A lookahead that runs over the rest of the subject from many starts; anything worse becomes the worst."""
        self._probe(scanning_probes(self._tree, self._alphabet), self._limits.probe_steps)
        found = self._worst
        if found is not None and found.rank <= (False, 2):
            self._worst = None
            return found
        return None

    def _looks_super_linear(self, attack: Attack) -> bool:
        steps: list[int] = []
        for pumps in (6, 12, 24):
            counted = self._count_steps(attack.atoms(pumps))
            if counted is None:
                return True
            steps.append(counted)
        return steps[2] - steps[1] > _GLANCE * (steps[1] - steps[0])

    def _probe_explosion(self) -> None:
        """Finite patterns that are tried in astronomically many ways before their end."""
        self._counted = self._allow("path counting", self._limits.confirm_steps)
        for probe in uniform_probes(self._tree, self._alphabet, _UNIFORM_ATOMS):
            for pumps in (16, 32, 64):
                steps = self._count_steps(probe.attack.atoms(pumps))
                if steps is not None and steps > _EXPLOSIVE * pumps:
                    growth = Growth(True, steps ** (1 / pumps), 0.0, 1.0)
                    self._worst = Confirmed(probe.attack, growth, probe.loop)
                    return

    def _has_counts(self) -> bool:
        return any(
            isinstance(node, syntax.Repeat) and max(node.least, node.most or 0) > UNROLL_ALWAYS
            for node in syntax.walk(self._tree)
        )

    def _attempt(self, program: Program, failing: frozenset[int]) -> None:
        """One pass; a budget that runs out is noted and ends the pass only."""
        if self._is_exponential():
            return
        try:
            automaton = build_automaton(program, self._allow("automaton", self._limits.edges), self._search, failing)
            if not program.relaxed and self._paths is None and self._backsearch is None:
                self._paths = PathCounter(automaton)
            self._judge(automaton)
        except BudgetExceeded as exceeded:
            self._exhausted = self._exhausted or exceeded.stage

    def _judge(self, automaton: Automaton) -> None:
        for exponential in (True, False):
            if not exponential and automaton.failing_looks and self._worst is not None:
                return
            finder = AmbiguityFinder(automaton, self._allow("ambiguity", self._limits.pairs))
            witnesses = WitnessFinder(
                automaton,
                finder,
                self._allow("witness", self._limits.witness_steps),
                self._pump_budgets[exponential],
            )
            candidates = finder.exponential() if exponential else finder.polynomial()
            try:
                if self._try_all(candidates, witnesses, automaton):
                    return
            except BudgetExceeded as exceeded:
                self._exhausted = self._exhausted or exceeded.stage

    def _try_all(self, candidates: Iterator[Ambiguity], witnesses: WitnessFinder, automaton: Automaton) -> bool:
        """First the shortest words of each candidate, then words chosen with more care."""
        tried: list[Ambiguity] = []
        for ambiguity in islice(candidates, _TRIED_CANDIDATES):
            self._doubtful = True
            if self._try(ambiguity, witnesses.attacks(ambiguity), automaton):
                return True
            tried.append(ambiguity)
        for ambiguity in tried:
            if not ambiguity.exponential and self._worst is not None:
                return False
            try:
                if self._try(ambiguity, witnesses.searched_attacks(ambiguity), automaton):
                    return True
            except BudgetExceeded as exceeded:
                if exceeded.stage != self._pump_budgets[0].stage:
                    raise
        return False

    def _try(self, ambiguity: Ambiguity, attacks: Iterator[Attack], automaton: Automaton) -> bool:
        """Confirm a candidate; True when nothing worse can be expected of the others."""
        expected = len(ambiguity.links) + 1
        for attack in attacks:
            confirmed = self._note(attack, guilty_loop(automaton, ambiguity))
            if confirmed is None:
                continue
            if confirmed.growth.exponential or (not ambiguity.exponential and confirmed.growth.degree >= expected):
                return True
        return False

    def _count_steps(self, atoms: Word) -> int | None:
        """The steps of one search, or None when they cannot be had for the price of one attempt."""
        granted = min(self._limits.attempt_steps, self._counted.left)
        if granted <= 0:
            raise BudgetExceeded(self._counted.stage)
        budget = self._counted.part(granted)
        try:
            if self._paths is not None:
                return self._paths.count(atoms, budget)
            return self._run_engine(atoms, budget)
        except BudgetExceeded:
            return None
        finally:
            self._counted.settle(budget, granted)

    def _run_engine(self, atoms: Word, budget: Budget) -> int:
        if self._exact is None:
            if self._too_long:
                raise BudgetExceeded("program size")
            self._too_long = True
            self._exact = self._compile(self._unroll, exact=True)
        codes = [self._alphabet.characters[atom] for atom in atoms]
        counter = StepCounter(self._exact, Subject(codes, atoms), budget, self._fold, self._parsed.conditional_captures)
        first = max(0, len(atoms) - self._backsearch) if self._backsearch is not None else 0
        return counter.search(first, only_first=self._parsed.sticky).steps

    def _note(self, attack: Attack, loop: Span | None) -> Confirmed | None:
        """Measure an attack and keep it when it is the worst so far; None when it is none."""
        if attack in self._measured:
            return None
        self._measured.add(attack)
        growth = measure_growth(lambda pumps: self._count_steps(attack.atoms(pumps)), attack.pump_length)
        if growth is None:
            return None
        confirmed = Confirmed(attack, growth, loop)
        if self._worst is None or confirmed.rank > self._worst.rank:
            self._worst = confirmed
        return confirmed


def guilty_loop(automaton: Automaton, ambiguity: Ambiguity) -> Span | None:
    """The repetition to show: around both ways of an exponential, around the last ambiguous state else."""
    if ambiguity.exponential:
        found = _common_loop(automaton, _states_on_the_way(automaton, ambiguity.links[0]), several_ways=True)
        if found is not None:
            return found
    for link in reversed(ambiguity.links):
        for state in (link.target, link.source):
            found = _common_loop(automaton, {state})
            if found is not None:
                return found
    return None


def _states_on_the_way(automaton: Automaton, link: Link) -> set[int]:
    """The states on any way by which the link's word leads from its source back to it."""
    layers: list[set[int]] = [{link.source}]
    for atom in link.word:
        layers.append({target for state in layers[-1] for target, mask in automaton.edges[state] if mask >> atom & 1})
    back = {link.target}
    found = set(back)
    for layer, atom in zip(reversed(layers[:-1]), reversed(link.word), strict=True):
        back = {
            state
            for state in layer
            if any(target in back and mask >> atom & 1 for target, mask in automaton.edges[state])
        }
        found |= back
    return found


def _common_loop(automaton: Automaton, states: set[int], several_ways: bool = False) -> Span | None:
    """The innermost repetition around all the states; with ``several_ways`` one that can run in several ways."""
    program = automaton.program
    chains: list[list[int]] = []
    for state in states:
        instruction = automaton.instructions[state]
        number = NOWHERE if instruction < 0 else program.loop_of[instruction]
        chain: list[int] = []
        while number != NOWHERE:
            chain.append(number)
            number = program.loops[number].parent
        chains.append(chain)
    shared = [number for number in chains[0] if all(number in chain for chain in chains)]
    if several_ways:
        shared = [number for number in shared if not program.loops[number].one_character] or shared
    return program.loops[shared[0]].span if shared else None
