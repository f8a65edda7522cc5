"""What a test has measured, told on the terminal and kept in its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Tell: TypeAlias = Callable[[str], None]
"""Tell a line of figures: the fixture `tell`."""
