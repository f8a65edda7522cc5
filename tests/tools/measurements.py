"""The type of the fixture `report`, with which tests report measurements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

ReportFigure: TypeAlias = Callable[[str], None]
"""Prints a line of figures on the terminal and adds it to the test's report."""
