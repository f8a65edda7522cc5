"""The start of the `kibitz` command, also as ``python -m kibitz``.

Python puts the working directory first on the path for ``-m``. It is taken off before anything
else is imported, so a file there, such as an entrant's, does not replace a module of ours.

Ctrl-C ends the process at once while modules are imported: nothing has begun then, and a
`KeyboardInterrupt` in the middle of an import would show a traceback. `kibitz.cli` restores
Python's own handler for the command that runs.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]


def main() -> None:
    """Run the command line and exit with its status."""
    import signal

    from kibitz.process import interrupts

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupts.leave)
    from kibitz import cli

    cli.main()


if __name__ == "__main__":
    main()
