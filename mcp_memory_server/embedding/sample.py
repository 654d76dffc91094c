"""Plain sentences to learn an embedder's ways from: what it makes of texts that have nothing to do with each other.

They are put together from this package's own table of everyday words, in a fixed order, so that every process
learns the same.
"""

from itertools import cycle, islice
from typing import Final

from mcp_memory_server.ranking.related import everyday_words

_FRAMES: Final = (
    "My favourite {0} is the {1} we found last year.",
    "Did you hear about the {0}? It was a great {1}.",
    "Anna said that her {0} would be a {1} next week.",
    "He is planning a {0} with his {1} in March.",
    "When did they talk about {0} and {1}?",
    "I have never liked {0}, but the {1} is fine.",
    "The {0} at our {1} was closed on Monday because of the rain.",
    "Tom wants to learn more about {0} after the {1}.",
    "What {0} does Maria prefer for the {1}?",
    "We decided to use {0} instead of {1} from now on.",
    "Please remember that {0} comes before {1}.",
    "She felt {0} when she saw the {1} yesterday!",
    "{0}, {1} and two other things are on the list.",
    "Our team needs a new {0}; the old {1} no longer works.",
    "Thanks for the {0}! I really needed that {1}.",
)
# Far apart in the alphabet, hence rarely related.
_STRIDE: Final = 311


def sample_frames(count: int) -> list[int]:
    """For each of the sample's sentences a number for the way it is built."""
    return [number % len(_FRAMES) for number in range(count)]


def sample_sentences(count: int) -> list[str]:
    """So many sentences, no two alike up to a thousand or so."""
    words = everyday_words()
    far = cycle(words[_STRIDE:] + words[:_STRIDE])
    # Every seventh word, round and round, visits nearly all of them.
    near = (words[number * 7 % len(words)] for number in range(count))
    pairs = zip(near, islice(far, count), strict=True)
    return [frame.format(*pair) for frame, pair in zip(cycle(_FRAMES), pairs, strict=False)]
