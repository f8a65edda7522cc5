"""Measure the strength of the house bots: tournaments with claims, and their results.

    python -m benchmarks.strength [NAME ...] [--quick | --write]

Each tournament of ``matrix.yaml`` is a *case*: a `kibitz arena` tournament with claims to test.
Without names, the command plays all cases, each on its own server with a process for every bot.
Running an interrupted command again resumes it. ``--quick`` plays a tenth of the games as a check.
``--write`` saves the results in ``results.jsonl``, from which ``python -m docs.generate`` generates
the strength page. The exit status is 0 if every claim holds and no bot dropped out.

    cases     the tournaments of the matrix
    runner    plays a case
    results   the saved results
"""
