"""Marks that only a chat template, a tool call or a page that loads pictures has any use for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .findings import Reason


@dataclass(frozen=True, slots=True)
class Mark:
    """A pattern that tells all by itself, and characters without which it need not be tried."""

    reason: Reason
    name: str
    needs: str
    pattern: re.Pattern[str]


MARKS: Final = (
    Mark("chat-markup", "control token", "<|", re.compile(
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|start_header_id|end_header_id|eot_id|eom_id|end|channel|"
        r"message|endofprompt|endoftext|begin_of_text|end_of_text|python_tag)\|>", re.IGNORECASE)),
    Mark("chat-markup", "turn of a template", "<", re.compile(r"<(?:start|end)_of_turn>|<<\/?SYS>>")),
    Mark("chat-markup", "turn of a template", "[", re.compile(
        r"\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]")),
    Mark("chat-markup", "heading of a role", "##", re.compile(
        r"###? ?(?:system|instructions?|response|assistant|human|user)(?: (?:prompt|message))? ?:", re.IGNORECASE)),
    Mark("chat-markup", "opened part of a prompt", "<", re.compile(
        r"<(?:think(?:ing)?|system(?:[-_](?:prompt|message|reminder|note))?|instructions|memory|tool_calls?|tool_result|"
        r"function_calls?)>", re.IGNORECASE)),
    Mark("chat-markup", "closed part of a prompt", "</", re.compile(
        r"<\/(?:memory|memories|context|documents?|instructions|system|user_input|untrusted)>", re.IGNORECASE)),
    Mark("chat-markup", "turn on a line of its own", "\n", re.compile(
        r"\n(?:system|assistant|human) ?: ", re.IGNORECASE)),
    Mark("chat-markup", "end of a part of the prompt", "--", re.compile(
        r"--- ?(?:BEGIN|END|START)(?: OF)?(?: THE)? (?:SYSTEM|MEMORY|MEMORIES|CONTEXT|PROMPT|INSTRUCTIONS)\b",
        re.IGNORECASE)),
    Mark("calls-tool", "call in JSON", "{", re.compile(
        r'"(?:name|tool|function|tool_name)" ?: ?"[\w.-]{1,80}" ?, ?"(?:arguments|args|parameters|input)" ?:')),
)  # fmt: skip

_TURNS: Final = Mark("chat-markup", "turns of a conversation", ":", re.compile(r"\b(?:human|user) ?: ", re.IGNORECASE))
_REPLY: Final = re.compile(r"\b(?:assistant|ai) ?: ", re.IGNORECASE)
_PICTURE: Final = Mark("image-exfiltration", "picture that carries data", "http", re.compile(
    r"\]\( ?<?https?://([^\s)]+)|src ?= ?[\"']?https?://([^\s>\"']+)", re.IGNORECASE))  # fmt: skip
_FILLED_IN: Final = re.compile(r"[{\[$<]|%s|[A-Z]{3}_[A-Z]")
"""A place in an address where somebody is to put something."""


_ELEMENT: Final = re.compile(r"<system>[^<>]{0,16}</system>", re.IGNORECASE)
"""XML of the kind that configurations and manuals hold: what is in it is too short to tell a model anything."""


def find_mark(text: str) -> Mark | None:
    """The first mark that the text holds."""
    if "</" in text:
        text = _ELEMENT.sub(" ", text)
    for mark in MARKS:
        if mark.needs in text and mark.pattern.search(text):
            return mark
    if _TURNS.needs in text and _TURNS.pattern.search(text) and _REPLY.search(text):
        return _TURNS
    if _PICTURE.needs in text and ("![" in text or "<img" in text):
        addresses = (found[1] or found[2] for found in _PICTURE.pattern.finditer(text))
        if any(_FILLED_IN.search(address.partition("?")[2]) for address in addresses):
            return _PICTURE
    return None
