"""Says whether a regular expression can hang a backtracking engine, and keeps such patterns out of a host.

Nothing here compiles or runs a foreign pattern on such an engine. `docs/regex-safety.md` tells the why.
"""

from .check import check_pattern
from .guard import Deed, GuardedTools, guard_tools
from .policy import POLICIES, Policy
from .rewrite import find_equal_safe_pattern
from .schema import Finding, check_schema
from .syntax import Span
from .verdict import Dialect, PatternVerdict, VerdictName, Witness

__all__ = [
    "POLICIES",
    "Deed",
    "Dialect",
    "Finding",
    "GuardedTools",
    "PatternVerdict",
    "Policy",
    "Span",
    "VerdictName",
    "Witness",
    "check_pattern",
    "check_schema",
    "find_equal_safe_pattern",
    "guard_tools",
]
