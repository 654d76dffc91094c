"""The ideas that an instruction to a model is made of, whatever its language."""

from enum import IntFlag, auto


class Concept(IntFlag):
    """One idea each. A word may stand for several: Turkish *bahsetme* is both NOT and TELL."""

    IGNORE = auto()
    """To drop what was said: ignore, disregard, forget, override. As commands, never as reports (*ignored*)."""
    OBEY = auto()
    """Follow, obey, comply with."""
    PRIOR = auto()
    """Earlier, above, original."""
    GIVEN = auto()
    """What the model was told before: *you were given*, *everything you were told*."""
    ALL = auto()
    RULES = auto()
    """Instructions, rules, guidelines, policies, restrictions."""
    INSTRUCTIONS = auto()
    """What a model is given rather than a club or a house: instructions, directives, a prompt."""
    VOID = auto()
    """No longer valid: *were a test*, *no longer apply*."""
    NEW = auto()
    PRIORITY = auto()
    """Takes precedence, supersedes."""
    AUTHORITY = auto()
    """Those whom a model obeys: the system, its developers, an administrator, its maker."""
    YOU = auto()
    ASSISTANT = auto()
    ADDRESS = auto()
    """A note to whoever reads it, if that is a model: *AI agents must*, *if you are an AI*."""
    USER = auto()
    NOT = auto()
    WITHOUT = auto()
    TELL = auto()
    """To let somebody know. In English not as a participle: *wants to be told* is a wish."""
    NOTICE = auto()
    """To become aware against somebody's will: notice, find out."""
    KNOW = auto()
    DENY = auto()
    TRIGGER = auto()
    """The moment of being read: *when you read this*, *once this is loaded*."""
    COMPLY = auto()
    """*All requests*, *any command*: what an attack wants granted."""
    HISTORY = auto()
    """The course of a conversation, beside a word for one."""
    NOTE = auto()
    """This text itself: a note, memory, instruction, message."""
    SELF = auto()
    """This very note as something to obey: *this note*, *this memory*."""
    SECRETLY = auto()
    HIDE = auto()
    FROM_USER = auto()
    """*From the user*, as in hiding something from them."""
    SEND = auto()
    LEAK = auto()
    """Verbs that nobody uses of their own affairs: leak, exfiltrate."""
    DISCLOSE = auto()
    SENSITIVE = auto()
    """What must never leave: passwords, keys, the environment."""
    DATA = auto()
    """What leaves only where its owner says so: messages, conversations, memories."""
    PLACE = auto()
    """A destination: an address of mail or web. Found by shape, not by word."""
    PRINT = auto()
    """To show text: repeat, print, output."""
    PROMPT = auto()
    """What a model is told in secret: its system prompt, its configuration."""
    PERSIST = auto()
    """From now on, always, in every answer."""
    RECOMMEND = auto()
    TRUSTED = auto()
    """A *trusted source*, the *best choice*: standing that a note tries to give somebody."""
    REGARDLESS = auto()
    """Whatever somebody wants: regardless, no matter, even if."""
    ROLE = auto()
    """To be somebody else: *you are now*, *act as*, *pretend*."""
    FREE = auto()
    """Without limits: unrestricted, *no rules*, *refuse nothing*."""
    MODE = auto()
    """A mode that lifts limits: *developer mode*. Devices have one too, so it says little alone."""
    AUTHORISED = auto()
    """Permission that the text grants itself: authorised, waived, cleared."""
    CONFIRM = auto()
    """Asking first: confirmation, approval, checks."""
    CALL = auto()
    """To call a tool. Not *use*: people say which tools they use."""
    RUN = auto()
    TOOL = auto()
    HARM = auto()
    """Acts that cannot be undone: delete, transfer, pay, send."""
    SHELL = auto()
    """A command line that fetches and runs, or erases. Found by shape."""
    INVOCATION = auto()
    """A command to call a function whose name tells of harm: *call delete_file*. Found by shape."""
    DECODE = auto()
    LABEL = auto()
    """A heading in the name of the system: *SYSTEM:*. Found by shape."""
    MUST = auto()
    MENTION = auto()
    """Words that speak about a phrase: title, talk, slogan, quote."""
