"""Experiments that test the claims of the five reports: ``python -m benchmarks.experiments``.

Each has a name, the claim of the report, and a function that measures it. The outcome is a JSON
file in `results`, its plots are in ``docs/images/experiments``, and `python -m docs.generate`
generates ``docs/experiments.md`` from both. Long experiments run in a short version unless
``--full`` is given. Outcomes of full runs are kept until the next full run.
"""
