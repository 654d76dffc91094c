"""Selectors that a deployment can plug in: a model picks, from a manifest, the notes that a turn needs.

They do I/O, so they stand apart from `recall`, whose seam (`recall.Selector`) they fill. Ask them through
`service.selector_guard.SelectorGuard`.
"""

from .opening import check_selector_setting, open_selector

__all__ = ["check_selector_setting", "open_selector"]
