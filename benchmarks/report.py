"""The command line and the files of benchmarks that write a documentation page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options `--quick`, `--json` and `--page`."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="shorter, less precise runs")
    made.add_argument("--json", type=Path, help="write all results to this file")
    made.add_argument("--page", type=Path, help="write a Markdown page")
    return made


def write(options: argparse.Namespace, figures: Any, page: str) -> None:
    """Write the files that the options name."""
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    if options.page:
        options.page.write_text(page, encoding="utf-8")
