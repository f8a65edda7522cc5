"""The page of the experiments: the measured ones, and the others."""

from __future__ import annotations

from pathlib import Path

from benchmarks.experiments.coverage import Item
from benchmarks.experiments.experiment import ReportExperiment
from benchmarks.experiments.outcomes import Outcome, Picture
from docs.generate import experiments

DOCS = Path(__file__).parents[2] / "docs"


def _unused() -> object:
    raise AssertionError("the page measures nothing")


def entry(name: str) -> ReportExperiment:
    return ReportExperiment(name, "line-nim", f"About {name}", "It wins.", "Five games.", _unused)  # type: ignore[arg-type]


OUTCOME = Outcome(
    name="pairs",
    found="It does.",
    heads=("who", "won"),
    rows=(("Ada", "9"),),
    command="one; two",
    pictures=(Picture(file="pairs-1.svg", caption="Pairs"),),
    full=False,
    seconds=300,
    package="1.0",
    commit="0123456789ab",
    date="2026-01-31",
)


def test_a_section_has_claim_fault_command_table_and_picture() -> None:
    page = experiments.page([entry("pairs")], {"line-nim": "A report"}, {"pairs": OUTCOME}, {})
    for part in (
        "## Line-Nim\n\nThe report: A report.",
        "### About pairs",
        "**Claim.** It wins.",
        "**Errors and gaps.** Five games.",
        "**Measured.** It does.",
        "| Ada | 9 |",
        "A short run of 5 min, kibitz 1.0 at 0123456789ab, 2026-01-31:\n\n```sh\none\ntwo\n```",
        "![Pairs](images/experiments/pairs-1.svg)",
    ):
        assert part in page


def test_copied_results_have_no_duration_and_no_date_of_their_own() -> None:
    copied = OUTCOME.model_copy(update={"command": "python -m benchmarks.strength pairs"})
    page = experiments.page([entry("pairs")], {"line-nim": "A report"}, {"pairs": copied}, {})
    assert "From [the arena's events](strength.md), which have their commits and dates:" in page
    assert "run of" not in page
    assert OUTCOME.commit not in page


def test_the_processor_time_of_a_run_is_said_where_it_was_counted() -> None:
    counted = OUTCOME.model_copy(update={"processor_seconds": 61.6})
    page = experiments.page([entry("pairs")], {"line-nim": "A report"}, {"pairs": counted}, {})
    assert (
        "A short run of 5 min (62 s of CPU time), kibitz 1.0 at 0123456789ab, 2026-01-31:" in page
    )


def test_what_was_not_measured_says_so() -> None:
    page = experiments.page([entry("other")], {"line-nim": "A report"}, {"pairs": OUTCOME}, {})
    assert "**Not measured yet**: `python -m benchmarks.experiments other`." in page
    assert "It does." not in page


def test_the_page_says_how_long_all_short_runs_take() -> None:
    short = OUTCOME.model_copy(update={"processor_seconds": 100.0})
    whole = OUTCOME.model_copy(
        update={"full": True, "processor_seconds": 900.0, "short_processor_seconds": 80.0}
    )
    page = experiments.page([], {}, {"short": short, "whole": whole}, {})
    assert "the short versions take 3 minutes of CPU" in " ".join(page.split())


def test_the_page_ends_with_what_is_covered() -> None:
    item = Item(
        item="Wins", claim="All.", experiment="pairs", verdict="differs", note="{pairs/1/won}"
    )
    page = experiments.page([], {}, {"pairs": OUTCOME}, {"line-nim": [item]})
    assert page.rstrip().endswith(
        "| Wins | All. | `make experiments ARGS=pairs` | **differs**: 9 |"
    )


def test_the_page_shows_every_picture_that_is_kept() -> None:
    page = (DOCS / "experiments.md").read_text(encoding="utf-8")
    kept = sorted(path.name for path in (DOCS / "images/experiments").iterdir())
    assert [name for name in kept if f"images/experiments/{name}" not in page] == []
