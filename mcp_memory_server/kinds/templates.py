"""Text with `{variables}`: what the steps of a rule are. A doubled brace stands for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mcp_memory_server.errors import InvalidInput, echo
from mcp_memory_server.records import Rule, normal_text

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_MAX_VALUE_CHARS: Final = 1_000


def check_template(text: str, argument: str) -> None:
    """Refuse braces that are no variable.

    Raises:
        InvalidInput: naming the place.
    """
    for found in _BRACES.finditer(text):
        if found[0] not in ("{{", "}}") and not (found[1] and _NAME.fullmatch(found[1])):
            raise InvalidInput.of(
                argument,
                f"holds {echo(found[0])} at position {found.start()}: write a variable like {{name}}, of at most 40 "
                "letters, digits and underscores, and a brace that is none doubled, like {{",
            )


def variables_of(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's variables, in order of their first place."""
    return tuple(dict.fromkeys(name for text in _texts(rule) for name in _names(text)))


def filled(rule: Rule, values: Mapping[str, str]) -> Rule:
    """The rule with a value in place of each variable, one visible line each.

    Raises:
        InvalidInput: a variable without a value, or a value for no variable of the rule; every one is named.
    """
    wanted = variables_of(rule)
    missing = [name for name in wanted if name not in values]
    unknown = [name for name in values if name not in wanted]
    if missing or unknown:
        faults = [f"gives no value for {_listed(missing)}"] if missing else []
        faults += [f"names {_listed(unknown)}, which the rule does not have"] if unknown else []
        raise InvalidInput.of("values", " and ".join(faults))
    lines = {name: normal_text(value, _MAX_VALUE_CHARS, f"value of {name}") for name, value in values.items()}

    def fill(text: str) -> str:
        return _BRACES.sub(lambda found: lines.get(found[1], found[0][:1]) if found[1] else found[0][:1], text)

    return rule.model_copy(
        update={
            "condition": fill(rule.condition),
            "steps": tuple(map(fill, rule.steps)),
            "success_criteria": rule.success_criteria and fill(rule.success_criteria),
        }
    )


def _texts(rule: Rule) -> Iterable[str]:
    return (rule.condition, *rule.steps, rule.success_criteria or "")


def _names(text: str) -> Iterator[str]:
    return (found[1] for found in _BRACES.finditer(text) if found[1] and _NAME.fullmatch(found[1]))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(echo, names))
