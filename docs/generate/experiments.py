"""Generate the page of the reports' experiments from their table and saved results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.experiments import coverage
from benchmarks.experiments.coverage import Item
from benchmarks.experiments.experiment import ReportExperiment
from benchmarks.experiments.outcomes import Outcome
from docs.generate.markdown import table
from kibitz_games.core import registry

HEAD = """# Experiments

The games of kibitz are based on five student reports. This page compares the reports' claims with
measurements made with kibitz. For each experiment, it gives the claim, the errors and gaps in the
report or its program, the command that repeats the measurement, the results with their 95%
intervals, and any plots.

`make experiments` runs short versions of all experiments, `make experiments ARGS=--full` runs them
at full length, and `ARGS=NAME` runs one. Together, the short versions take {minutes} minutes of CPU
time. Each result states the elapsed time on a machine that may have been doing other work, and, if
measured, the CPU time of all threads. The results are stored in `benchmarks/experiments/results`,
and this page is generated from them.

Intervals are [Wilson intervals](explanation/ratings.md#claims) for a share of games: 19 of 20 such
intervals contain the true share. They do not show how much the results of another training run
would differ."""

COVERAGE = """## Coverage of the reports

These tables list every figure, table and claim of the reports, the command that checks it, and the
verdict. The numbers come from the results above, which also state the date, the version and the
length of each run. A row with the verdict "not reproduced yet" names the missing experiment or a
command that could decide the claim."""


def page(
    experiments: Sequence[ReportExperiment],
    reports: Mapping[str, str],
    kept: Mapping[str, Outcome],
    covered: Mapping[str, Sequence[Item]],
) -> str:
    """Return the page of these experiments; `kept` has the saved results by experiment name.

    It ends with the `covered` items by game. Raises `coverage.CellError` if one of them refers to a
    missing result.
    """
    minutes = sum(outcome.short_cost or 0 for outcome in kept.values()) / 60
    parts = [f"{HEAD.format(minutes=f'{minutes:.0f}')}\n"]
    for game, report in reports.items():
        parts += [f"## {registry.get(game).info.title}\n", f"The report: {report}.\n"]
        for each in experiments:
            if each.game == game:
                parts += _section(each, kept.get(each.name))
    parts.append(f"{COVERAGE}\n")
    for game, items in covered.items():
        parts.append(f"### Coverage of {registry.get(game).info.title}\n")
        parts.append(table(coverage.HEADS, [coverage.row(item, kept) for item in items]))
    return "\n".join(parts)


def _section(experiment: ReportExperiment, outcome: Outcome | None) -> Iterator[str]:
    yield f"### {experiment.title}\n"
    yield f"**Claim.** {experiment.claim}\n"
    yield f"**Errors and gaps.** {experiment.errs}\n"
    if outcome is None:
        yield f"**Not measured yet**: `python -m benchmarks.experiments {experiment.name}`.\n"
        return
    yield f"**Measured.** {outcome.found}\n"
    yield table(outcome.heads, outcome.rows)
    yield f"{_length(outcome)}\n"
    yield f"```sh\n{outcome.command.replace('; ', chr(10))}\n```\n"
    for picture in outcome.pictures:
        yield f"![{picture.caption}](images/experiments/{picture.file})\n"


def _length(outcome: Outcome) -> str:
    """Describe a run: its length, duration, version and date."""
    if outcome.copied:
        return "From [the arena's events](strength.md), which have their commits and dates:"
    made = f"kibitz {outcome.package} at {outcome.commit}, {outcome.date}:"
    run = "A full run" if outcome.full else "A short run"
    time = _duration(outcome.seconds)
    if outcome.processor_seconds is not None:
        time += f" ({_duration(outcome.processor_seconds)} of CPU time)"
    return f"{run} of {time}, {made}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
