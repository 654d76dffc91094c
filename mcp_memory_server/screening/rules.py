"""Which concepts, close together in one sentence, make an instruction to the model.

A rule knows no language. It asks for groups of concepts within a number of characters; what a person may say about
their own affairs (*ignores weekends*, *send the invoice to ...*) names some of them, an attack names all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .findings import Reason, Suspicion
from .hits import Hit, Hits
from .lexicon.concepts import Concept as C

_NEGATION_REACH: Final = 22
"""Within how many characters before a verb a *never* or *not* turns it into its opposite."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Groups of concepts that all occur, each by any of its members, within `width` characters of a sentence."""

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

_FORBIDDEN: Final = C.RULES | C.CONFIRM | C.DISCLOSE | C.SEND | C.IGNORE | C.HARM
"""What somebody without authority would not get from the model."""

_COVETED: Final = C.SENSITIVE | C.PROMPT | C.COMPLY | C.ASSISTANT

_DEED: Final = C.MUST | C.SEND | C.PRINT | C.OBEY

RULES: Final[dict[Reason, tuple[Rule, ...]]] = {
    "overrides-instructions": (
        Rule("drop the rules", (C.IGNORE, C.RULES, _WHOSE), affirmed=True),
        Rule("drop the prompt", (C.IGNORE, C.PROMPT), affirmed=True),
        Rule("drop what was said", (C.IGNORE, C.GIVEN), 60, affirmed=True),
        Rule("do not obey", (C.NOT, C.OBEY, C.RULES, _WHOSE), 90),
        Rule("do not heed what was said", (C.NOT, C.OBEY, C.GIVEN)),
        Rule("rules are void", (C.RULES, C.VOID, C.YOU | C.AUTHORITY), 60),
        Rule("instructions are void", (C.INSTRUCTIONS, C.VOID, C.PRIOR), 60),
        Rule("new instructions", (C.NEW, C.INSTRUCTIONS, C.YOU), 40),
        Rule("outranks the rules", (C.PRIORITY, C.RULES, _WHOSE | C.NOTE), 100),
        Rule("obey this note", (C.OBEY, C.SELF), 40, affirmed=True),
    ),
    "reveals-prompt": (
        Rule("show the prompt", (C.PRINT | C.LEAK | C.DISCLOSE, C.PROMPT), 70, affirmed=True),
        Rule("show the instructions", (C.PRINT | C.DISCLOSE, C.INSTRUCTIONS, C.GIVEN), 50, affirmed=True),
    ),
    "hides-from-user": (
        Rule("do not tell the user of this", (C.NOT, C.TELL, C.USER, C.NOTE)),
        Rule("without telling the user", (C.WITHOUT, C.TELL, C.USER), 50, unless=C.NOT),
        Rule("do not mention this", (C.NOT, C.TELL, C.NOTE), 30, ordered=True),
        Rule("hide from the user", (C.SECRETLY | C.HIDE, C.FROM_USER), 60),
        Rule("the user shall not know of this", (C.NOT, C.KNOW, C.USER, C.NOTE), 90),
        Rule("deny this", (C.DENY, C.NOTE), 40),
        Rule("keep this from the user", (C.SECRETLY | C.HIDE, C.USER, C.NOTE), 90),
        Rule("the user shall not notice", (C.NOT | C.WITHOUT, C.NOTICE, C.USER), 40),
    ),
    "asks-to-exfiltrate": (
        Rule("send secrets", (C.SEND, C.SENSITIVE, C.PLACE), 150, affirmed=True),
        Rule("send the user's data", (C.SEND, C.DATA | C.HISTORY, C.PLACE, C.USER), 150, affirmed=True),
        Rule("send a conversation", (C.SEND, C.HISTORY, C.DATA, C.PLACE), 150, affirmed=True),
        Rule("disclose secrets", (C.DISCLOSE, C.SENSITIVE, C.YOU | C.USER | C.ALL), 60, affirmed=True),
        Rule("leak", (C.LEAK, C.SENSITIVE | C.DATA), 60, ordered=True, affirmed=True),
    ),
    "calls-tool": (
        Rule("call a harmful tool", (C.CALL, C.TOOL, C.HARM), 100, ordered=True, affirmed=True),
        Rule("call a harmful tool", (C.CALL, C.HARM, C.TOOL), 100, ordered=True, affirmed=True),
        Rule("run a harmful command", (C.CALL | C.RUN, C.SHELL), 60, ordered=True, affirmed=True),
        Rule("call a harmful function", (C.INVOCATION,), affirmed=True),
        Rule("call in secret", (C.SECRETLY, C.CALL | C.RUN), 30, ordered=True),
        Rule("act when read", (C.TRIGGER, _DEED | C.HARM | C.CALL | C.RUN), 120),
        Rule("fetch and run", (C.RUN | C.OBEY, C.RULES, C.PLACE, C.PERSIST), 120, affirmed=True),
    ),
    "skips-confirmation": (
        Rule("never ask", (C.NOT, C.CONFIRM, C.HARM, C.USER | C.ALL | C.YOU), 90, unless=C.WITHOUT),
        Rule("act unasked", (C.WITHOUT, C.CONFIRM, C.HARM), 90, unless=C.NOT),
    ),
    "claims-authority": (
        Rule("skip the checks", (C.IGNORE, C.CONFIRM, C.AUTHORITY | C.AUTHORISED | C.YOU), 100),
        Rule("grant all requests", (C.COMPLY, C.WITHOUT, C.CONFIRM), 60),
        Rule("permission granted", (C.AUTHORISED, C.CONFIRM, C.ALL | C.YOU | C.ASSISTANT), 100),
        Rule("an authority allows it", (C.AUTHORISED, C.AUTHORITY, C.YOU, _FORBIDDEN), 100),
        Rule("an authority frees it", (C.AUTHORISED, C.AUTHORITY, C.ASSISTANT, C.RULES | C.SEND), 100),
        Rule("an authority demands it", (C.AUTHORITY, C.YOU, C.MUST, C.OBEY | C.PRINT, _COVETED), 100),
    ),
    "impersonates-system": (
        Rule("a heading of the system", (C.LABEL, C.MUST | C.YOU | C.ASSISTANT | C.IGNORE), 120),
    ),
    "addresses-model": (
        Rule("a note to the model", (C.ADDRESS, _DEED | C.IGNORE | C.RECOMMEND), 100, ordered=True),
    ),
    "encoded-instruction": (
        Rule("decode and obey", (C.DECODE, C.OBEY | C.RUN), 30, ordered=True, affirmed=True),
    ),
    "persistent-command": (
        Rule("advertise", (C.REGARDLESS, C.USER, C.RECOMMEND), 120),
        Rule("trust a source", (C.TRUSTED, C.RECOMMEND | C.PERSIST), 100),
        Rule("copy itself", (C.NOTE, C.SEND, C.ALL, C.PERSIST), 120),
    ),
    "changes-role": (
        Rule("become unlimited", (C.ROLE, C.FREE | C.MODE), 70),
        Rule("a mode without limits", (C.MODE, C.FREE), 60),
        Rule("forget to be a model", (C.IGNORE, C.YOU, C.ASSISTANT), 35, ordered=True, affirmed=True),
        Rule("unlimited model", (C.FREE, C.ASSISTANT, C.YOU | C.MUST), 70),
        Rule("no rules from now on", (C.FREE, C.YOU, C.PERSIST), 50),
        Rule("no longer the assistant", (C.VOID, C.ROLE, C.ASSISTANT), 60),
    ),
}  # fmt: skip
"""By reason. The first that fits is the one that is told."""

_MASKS: Final[tuple[tuple[Reason, Rule, tuple[int, ...]], ...]] = tuple(
    (reason, rule, tuple(group.value for group in rule.groups)) for reason, rules in RULES.items() for rule in rules
)
_NEGATIVE: Final = (C.NOT | C.WITHOUT).value


def match_rule(hits: Hits) -> Suspicion | None:
    """The first rule that one sentence of the text fits. Linear in the number of hits."""
    possible: list[tuple[Reason, Rule, tuple[int, ...]]] = []
    for reason, rule, masks in _MASKS:
        for mask in masks:
            if not hits.bits & mask:
                break
        else:
            possible.append((reason, rule, masks))
    if possible:
        sentences = hits.sentences()
        for reason, rule, masks in possible:
            if any(_fits(rule, masks, sentence) for sentence in sentences):
                return Suspicion(reason, rule.name)
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
