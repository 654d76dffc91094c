"""Write options: what a write may ask for beyond the record, bound to a provider or asked for once.

An option is honoured or refused, never ignored: what is asked for is compared with what the provider declares in
`Capabilities.honours` before anything is written.

- `put`, `put_many`: one write, or several that happen together, with options of their own.
- `bind_write_options`: a provider whose every write carries the options and whose every read is confined.
- `assert_provider_honours`: refuse at start-up what could never work.
"""

from .asking import NOTHING_ASKED, WriteOptions, assert_provider_honours, namespace_token
from .binding import Namespace, bind_write_options
from .putting import put, put_many

__all__ = [
    "NOTHING_ASKED",
    "Namespace",
    "WriteOptions",
    "assert_provider_honours",
    "bind_write_options",
    "namespace_token",
    "put",
    "put_many",
]
