"""The page of the reports' experiments, from their table and their saved results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.experiments.experiment import ReportExperiment
from benchmarks.experiments.outcomes import Outcome
from docs.generate.markdown import table
from kibitz_games.core import registry

HEAD = """# Experiments

Five student reports stand behind the games of kibitz. This page holds what they claim against what
is measured here: for each experiment the claim, where the report or its program errs or leaves
something open, the command that measures it again, the figures with their 95% intervals, and
pictures where there are some.

`make experiments` runs all of them, cut short where the whole takes long, and
`make experiments ARGS=--full` at their whole length; `ARGS=NAME` runs one. Each says how long it
took by the clock, with whatever else the machine had to do, and where that was counted how much
processor time all its threads had. They keep what they show in `benchmarks/experiments/results`,
and this page is written from it.

An interval is that of a share of games ([Wilson's](explanation/ratings.md#claims)), and says where
the true one lies in 19 of 20 such measurements. It does not tell how much another run of a training
would differ."""


def page(
    experiments: Sequence[ReportExperiment],
    reports: Mapping[str, str],
    kept: Mapping[str, Outcome],
) -> str:
    """Return the page of these experiments, with the saved result of each by name."""
    parts = [f"{HEAD}\n"]
    for game, report in reports.items():
        parts += [f"## {registry.get(game).info.title}\n", f"The report: {report}.\n"]
        for each in experiments:
            if each.game == game:
                parts += _section(each, kept.get(each.name))
    return "\n".join(parts)


def _section(experiment: ReportExperiment, outcome: Outcome | None) -> Iterator[str]:
    yield f"### {experiment.title}\n"
    yield f"**Claim.** {experiment.claim}\n"
    yield f"**Where it errs.** {experiment.errs}\n"
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
    """Describe the length and the version of a run."""
    run = "A whole run" if outcome.full else "A short run"
    time = _duration(outcome.seconds)
    if outcome.processor_seconds is not None:
        time += f" ({_duration(outcome.processor_seconds)} of processor time)"
    return f"{run} of {time}, kibitz {outcome.package}, {outcome.date}:"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
