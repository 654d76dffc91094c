"""Settings that all tests share."""

from hypothesis import settings

# The examples of a law are bounded by number, not by time: a busy machine is no failure.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
