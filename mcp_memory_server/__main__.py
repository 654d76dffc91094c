"""`python -m mcp_memory_server` and the console script."""

import signal
import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it without a traceback, also while modules are loaded."""
    try:
        from .cli import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
