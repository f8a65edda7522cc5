"""The entry point of the `kibitz` command and of ``python -m kibitz``.

For ``-m``, Python puts the working directory first on the path. It is removed before any other
import, so that a file there, such as an entrant's, cannot replace one of kibitz's modules.

While modules are imported, Ctrl-C ends the process at once: nothing has begun yet, and a
`KeyboardInterrupt` in the middle of an import would show a traceback. `kibitz.cli` restores
Python's handler for the running command.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]


def main() -> None:
    """Run the command line and exit with its status."""
    import gc
    import signal

    gc.disable()
    from kibitz.process import interrupts

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupts.leave)
    from kibitz import cli

    try:
        cli.main()
    finally:
        gc.freeze()  # the garbage collections at exit then skip all objects


if __name__ == "__main__":
    main()
