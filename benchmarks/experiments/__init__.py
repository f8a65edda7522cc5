"""The experiments of the five reports, measured here: ``python -m benchmarks.experiments``.

Each has a name, the claim of the report, and a function that measures it again. The outcome is a
JSON file in `results`, its figures are in ``docs/images/experiments``, and `python -m
docs.generate` writes ``docs/experiments.md`` from both. Long experiments are cut short unless
``--full`` is given; outcomes of full runs are kept until the next full run.
"""
