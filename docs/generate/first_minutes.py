"""Generate the table of a bot author's first minutes from the stored measurements."""

from __future__ import annotations

from benchmarks.first_minutes import Results
from docs.generate.markdown import between, table

BEGIN = "<!-- first minutes: `python -m docs.generate` writes what is between the marks -->"
END = "<!-- first minutes end -->"


def page(text: str, results: Results) -> str:
    """Return the page with the table of the steps; raises `NoMarkersError`."""
    source = (
        f"Measured at commit {results.commit} on {results.machine}; {results.load:.1f} threads of"
        " all programs were active on average."
    )
    rows = [timing.row() for timing in results.timings]
    steps = table(("project", "step", "time", "CPU time"), rows)
    return between(text, BEGIN, END, f"{source}\n\n{steps}")
