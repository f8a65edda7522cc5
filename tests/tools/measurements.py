"""The type of the fixture `report`, with which a test tells what it has measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

ReportFigure: TypeAlias = Callable[[str], None]
"""Take a line of figures, show it on the terminal and keep it in the test's report."""
