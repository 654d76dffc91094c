"""Which concepts, close together in one sentence, make an instruction to the model.

A rule knows no language. It asks for groups of concepts within a number of characters; what a person may say about
their own affairs (*ignores weekends*, *send the invoice to ...*) names some of them, an attack names all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .findings import Reason
from .hits import Hit, Hits
from .lexicon.concepts import Concept as C

_NEGATION_REACH: Final = 22
"""Within how many characters before a verb a *never* or *not* turns it into its opposite."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Groups of concepts that all occur, each by any of its members, within `width` characters of a sentence."""

    reason: Reason
    name: str
    groups: tuple[C, ...]
    width: int = 80
    ordered: bool = False
    affirmed: bool = False
    """The first group does not count where it is negated: *never send passwords* asks for nothing."""
    unless: C | None = None
    """What makes it harmless when the same sentence names it too."""


_WHOSE: Final = C.PRIOR | C.YOU | C.AUTHORITY | C.ALL | C.GIVEN
"""Whose rules: a person ignores a rule of the house, an attack the rules of the model."""

RULES: Final = (
    Rule("overrides-instructions", "drop the rules", (C.IGNORE, C.RULES, _WHOSE), affirmed=True),
    Rule("overrides-instructions", "drop the prompt", (C.IGNORE, C.PROMPT), affirmed=True),
    Rule("overrides-instructions", "drop what was said", (C.IGNORE, C.GIVEN), 60, affirmed=True),
    Rule("overrides-instructions", "do not obey", (C.NOT, C.OBEY, C.RULES, _WHOSE), 90),
    Rule("overrides-instructions", "rules are void", (C.RULES, C.VOID, C.PRIOR | C.YOU | C.AUTHORITY)),
    Rule("overrides-instructions", "new rules", (C.NEW, C.RULES, C.YOU), 40),
    Rule("overrides-instructions", "outranks the rules", (C.PRIORITY, C.RULES, _WHOSE | C.NOTE), 100),
    Rule("reveals-prompt", "show the prompt", (C.PRINT | C.LEAK, C.PROMPT), 70, affirmed=True),
    Rule("hides-from-user", "do not tell the user of this", (C.NOT, C.TELL, C.USER, C.NOTE)),
    Rule("hides-from-user", "without telling the user", (C.WITHOUT, C.TELL, C.USER), 50, unless=C.NOT),
    Rule("hides-from-user", "do not mention this", (C.NOT, C.TELL, C.NOTE), 30, ordered=True),
    Rule("hides-from-user", "hide from the user", (C.SECRETLY, C.FROM_USER), 60),
    Rule("hides-from-user", "the user shall not notice", (C.NOT, C.NOTICE, C.USER), 40),
    Rule("asks-to-exfiltrate", "send secrets", (C.SEND, C.SENSITIVE, C.PLACE), 150, affirmed=True),
    Rule("asks-to-exfiltrate", "send the user's data", (C.SEND, C.DATA, C.PLACE, C.USER), 150, affirmed=True),
    Rule("asks-to-exfiltrate", "reveal secrets", (C.PRINT, C.SENSITIVE, C.YOU | C.USER | C.ALL), 60, affirmed=True),
    Rule("asks-to-exfiltrate", "leak", (C.LEAK, C.SENSITIVE | C.DATA), 60, affirmed=True),
    Rule("calls-tool", "call a harmful tool", (C.CALL, C.TOOL, C.HARM), 60, ordered=True, affirmed=True),
    Rule("calls-tool", "call a harmful tool", (C.CALL, C.HARM, C.TOOL), 60, ordered=True, affirmed=True),
    Rule("calls-tool", "run a harmful command", (C.CALL | C.RUN, C.SHELL), 60, ordered=True, affirmed=True),
    Rule("calls-tool", "call a harmful function", (C.INVOCATION,), affirmed=True),
    Rule("calls-tool", "call in secret", (C.SECRETLY, C.CALL | C.RUN), 30, ordered=True),
    Rule("calls-tool", "fetch and run", (C.RUN | C.OBEY, C.RULES, C.PLACE, C.PERSIST), 120, affirmed=True),
    Rule("skips-confirmation", "never ask", (C.NOT, C.CONFIRM, C.HARM, C.USER | C.ALL | C.YOU), 90, unless=C.WITHOUT),
    Rule("skips-confirmation", "act unasked", (C.WITHOUT, C.CONFIRM, C.HARM), 90, unless=C.NOT),
    Rule("claims-authority", "skip the checks", (C.IGNORE, C.CONFIRM, C.AUTHORITY | C.AUTHORISED | C.YOU), 100),
    Rule("claims-authority", "permission granted", (C.AUTHORISED, C.CONFIRM, C.ALL | C.YOU | C.ASSISTANT | C.NOT), 100),
    Rule("claims-authority", "an authority allows it", (C.AUTHORISED, C.AUTHORITY, C.ASSISTANT | C.YOU), 100),
    Rule("claims-authority", "an authority demands it", (C.AUTHORITY, C.YOU, C.MUST, C.OBEY | C.PRINT | C.SEND), 100),
    Rule("impersonates-system", "a heading of the system", (C.LABEL, C.MUST | C.YOU | C.ASSISTANT | C.IGNORE), 120),
    Rule("addresses-model", "a note to the model", (C.ADDRESS, C.MUST | C.SEND | C.PRINT | C.IGNORE | C.OBEY), 100),
    Rule("encoded-instruction", "decode and obey", (C.DECODE, C.OBEY | C.RUN), 30, ordered=True, affirmed=True),
    Rule("persistent-command", "advertise", (C.REGARDLESS, C.USER, C.RECOMMEND), 120),
    Rule("persistent-command", "trust a source", (C.TRUSTED, C.RECOMMEND | C.PERSIST | C.MUST), 100),
    Rule("persistent-command", "copy itself", (C.NOTE, C.SEND, C.ALL, C.PERSIST), 120),
    Rule("changes-role", "become unlimited", (C.ROLE, C.FREE | C.MODE), 70),
    Rule("changes-role", "a mode without limits", (C.MODE, C.FREE), 60),
    Rule("changes-role", "unlimited model", (C.FREE, C.ASSISTANT, C.YOU | C.MUST), 70),
    Rule("changes-role", "no rules from now on", (C.FREE, C.YOU, C.PERSIST), 50),
    Rule("changes-role", "no longer the assistant", (C.VOID, C.ROLE, C.ASSISTANT), 60),
)  # fmt: skip

_MASKS: Final = tuple((rule, tuple(group.value for group in rule.groups)) for rule in RULES)
_NEGATIVE: Final = (C.NOT | C.WITHOUT).value


def match_rule(hits: Hits) -> Rule | None:
    """The first rule that one sentence of the text fits. Linear in the number of hits."""
    possible: list[tuple[Rule, tuple[int, ...]]] = []
    for rule, masks in _MASKS:
        for mask in masks:
            if not hits.bits & mask:
                break
        else:
            possible.append((rule, masks))
    if not possible:
        return None
    sentences = hits.sentences()
    for rule, masks in possible:
        if any(_fits(rule, masks, sentence) for sentence in sentences):
            return rule
    return None


def _fits(rule: Rule, masks: tuple[int, ...], sentence: list[Hit]) -> bool:
    if rule.unless is not None and _names_besides(rule.unless.value, masks, sentence):
        return False
    return _in_order(rule, masks, sentence) if rule.ordered else _in_any_order(rule, masks, sentence)


def _names_besides(bits: int, masks: tuple[int, ...], sentence: list[Hit]) -> bool:
    """Whether some word names these concepts and is not itself one of those that the rule asks for."""
    return any(hit.bits & bits and not any(hit.bits & mask for mask in masks) for hit in sentence)


def _in_any_order(rule: Rule, masks: tuple[int, ...], sentence: list[Hit]) -> bool:
    latest = [-1] * len(masks)
    negated_until = -1
    for at, bits in sentence:
        for place, mask in enumerate(masks):
            if bits & mask and not (place == 0 and rule.affirmed and at <= negated_until):
                latest[place] = at
        if min(latest) >= 0 and at - min(latest) <= rule.width:
            return True
        if bits & _NEGATIVE:
            negated_until = at + _NEGATION_REACH
    return False


def _in_order(rule: Rule, masks: tuple[int, ...], sentence: list[Hit]) -> bool:
    # begun[n]: where the latest chain through the first n + 1 groups began.
    begun = [-1] * len(masks)
    negated_until = -1
    for at, bits in sentence:
        for place in range(len(masks) - 1, -1, -1):
            if bits & masks[place]:
                if place == 0:
                    begun[0] = -1 if rule.affirmed and at <= negated_until else at
                elif begun[place - 1] >= 0:
                    begun[place] = max(begun[place], begun[place - 1])
        if begun[-1] >= 0 and at - begun[-1] <= rule.width:
            return True
        if bits & _NEGATIVE:
            negated_until = at + _NEGATION_REACH
    return False
