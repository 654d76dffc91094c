"""A filter as SQL: which rows of `memory` answer as they are, and which versions answer besides or instead."""
