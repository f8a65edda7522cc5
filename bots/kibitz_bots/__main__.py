"""``python -m kibitz_bots SPEC --url URL --lobby CODE``: a bot as a process."""

import sys

from kibitz_bots.process import main

if __name__ == "__main__":
    sys.exit(main())
