"""Settings that all tests share."""

import pytest
from hypothesis import settings

# So that a check of the contract suite that fails shows what it compared, as a test does.
pytest.register_assert_rewrite("mcp_memory_server.providers.contract")

# The examples of a law are bounded by number, not by time: a busy machine is no failure.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
