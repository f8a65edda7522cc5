"""``python -m kibitz`` is the `kibitz` command.

Python puts the working directory first on the path for ``-m``. It is taken off before anything
else is imported, so a file there, such as an entrant's, does not replace a module of ours.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]

    from kibitz.cli import main

    main()
