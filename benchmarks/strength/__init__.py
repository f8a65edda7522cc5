"""Measure the strength of the house bots: tournaments with claims, and their results.

    python -m benchmarks.strength [NAME ...] [--missing] [--quick | --write]

Each tournament of ``matrix.yaml`` is a *case*: a `kibitz arena` tournament with claims to test.
Without names, the command plays all cases, each on its own server with a process for every bot.
Running an interrupted command again resumes it. ``--quick`` plays a tenth of the games as a check.
``--write`` saves each result in ``results.jsonl`` when its case ends, with the last commit that
changed the bots or what they run on; these sources must be committed. ``--missing`` skips the cases
whose result is from this commit. ``python -m docs.generate`` generates the strength page from the
saved results; ``make strength`` runs both commands, and resumes after an interruption. The exit
status is 0 if every claim holds and no bot dropped out.

    cases     the tournaments of the matrix
    runner    plays a case
    results   the saved results
"""
