"""Lets a host use the tools of a server that it does not trust: what would hang its validator is taken out.

Stripping only ever makes a schema accept more. A keyword that would turn that round (under `not`, say) goes with the
pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from .policy import POLICIES, Action, Policy
from .rewrite import find_equal_safe_pattern
from .schema import Finding, check_schema
from .strip import CannotStrip, loosen_choices, replace_pattern, strip_pattern

SchemaField: TypeAlias = Literal["inputSchema", "outputSchema"]
_REWRITES_PER_SCHEMA = 30
"""A proof costs more than a check; a schema with more findings than this is not worth it."""
SCHEMA_FIELDS: tuple[SchemaField, ...] = ("inputSchema", "outputSchema")


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that was done, or left undone with a warning."""

    tool: str
    action: Action
    schema: SchemaField
    finding: Finding
    detail: str
    """What was done, in words: the new pattern, the keywords that went."""


@dataclass(frozen=True, slots=True)
class GuardedTools:
    """The tools that may be used, and what was done to make it so."""

    tools: list[dict[str, object]]
    deeds: tuple[Deed, ...]

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names of the tools that are gone."""
        return tuple(dict.fromkeys(deed.tool for deed in self.deeds if deed.action == "drop"))


def guard_tools(tools: object, policy: str | Policy = "reject") -> GuardedTools:
    """Apply a policy to the result of `tools/list`.

    ``tools`` is that result (a mapping with the key `tools`), its list of tools, or the SDK's model of either. What
    was given is not changed. An entry that is no tool is dropped. Raises KeyError for the name of no policy.
    """
    chosen = POLICIES[policy] if isinstance(policy, str) else policy
    kept: list[dict[str, object]] = []
    deeds: list[Deed] = []
    for entry in tools_of(tools):
        guarded, done = _guard_tool(entry, chosen)
        deeds.extend(done)
        if guarded is not None:
            kept.append(guarded)
    return GuardedTools(kept, tuple(deeds))


def tools_of(listing: object) -> list[Mapping[str, object]]:
    """The tools of a `tools/list` result, of a list, or of one tool alone, as mappings."""
    plain = _plain(listing)
    if isinstance(plain, Mapping):
        mapping = cast("Mapping[str, object]", plain)
        inner = mapping.get("tools", [mapping])
        plain = inner
    if not isinstance(plain, (list, tuple)):
        return []
    entries = (_plain(entry) for entry in cast("Sequence[object]", plain))
    return [cast("Mapping[str, object]", entry) for entry in entries if isinstance(entry, Mapping)]


def _plain(value: object) -> object:
    """A pydantic model as the JSON that it stands for; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", by_alias=True, exclude_none=True) if callable(dump) else value


def tool_name(tool: Mapping[str, object]) -> str:
    """The tool's name, for messages."""
    name = tool.get("name")
    return name if isinstance(name, str) else "(unnamed)"


def _guard_tool(tool: Mapping[str, object], policy: Policy) -> tuple[dict[str, object] | None, list[Deed]]:
    guarded = dict(tool)
    deeds: list[Deed] = []
    for schema_field in SCHEMA_FIELDS:
        schema = tool.get(schema_field)
        if schema is None:
            continue
        guarded[schema_field], done = _guard_schema(tool_name(tool), schema_field, schema, policy)
        deeds.extend(done)
    if any(deed.action == "drop" for deed in deeds):
        return None, deeds
    return guarded, deeds


def _guard_schema(tool: str, where: SchemaField, schema: object, policy: Policy) -> tuple[object, list[Deed]]:
    """The schema with every finding acted on. The deepest pointers come first, so that the others stay good."""
    deeds: list[Deed] = []
    findings = check_schema(schema)
    for finding in sorted(findings, key=lambda found: -found.pointer.count("/")):
        action = policy.action_for(finding)
        if action == "keep":
            continue
        deed = Deed(tool, action, where, finding, finding.reason)
        if action in ("strip", "rewrite"):
            schema, deed = _change(schema, deed, len(deeds) < _REWRITES_PER_SCHEMA)
        deeds.append(deed)
    return loosen_choices(schema, [deed.finding for deed in deeds if deed.action == "strip"]), deeds


def _change(schema: object, deed: Deed, may_rewrite: bool) -> tuple[object, Deed]:
    """Rewrite where that is asked for and can be proven, else strip; drop the tool where neither can be done."""
    finding = deed.finding
    if deed.action == "rewrite" and may_rewrite and finding.judged is not None:
        equal = find_equal_safe_pattern(finding.pattern, finding.judged.flags)
        if equal is not None:
            return replace_pattern(schema, finding, equal), replace(deed, detail=f"now {equal}")
    try:
        stripped, gone = strip_pattern(schema, finding)
    except CannotStrip as reason:
        return schema, replace(deed, action="drop", detail=str(reason))
    return stripped, replace(deed, action="strip", detail=f"removed {gone}")
