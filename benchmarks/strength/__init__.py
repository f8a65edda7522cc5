"""Strength of the house bots: tournaments with claims, and their results.

    python -m benchmarks.strength [NAME ...] [--quick | --write]

Each tournament of ``matrix.yaml`` is a *case*: a tournament of `kibitz arena` with claims to prove.
Without names all of them are played, each on a server of its own with a process for every bot. An
interrupted command resumes when it is run again. ``--quick`` plays a tenth of the games as a check.
``--write`` saves the results in ``results.jsonl``, from which ``python -m docs.generate`` makes the
page of strength. The exit status is 0 if every claim holds and nobody dropped out.

    cases     the tournaments of the matrix
    runner    plays a case
    results   the saved results
"""
