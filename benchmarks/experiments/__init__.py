"""The experiments of the five reports, measured here: ``python -m benchmarks.experiments``.

Each has a name, the claim of the report, and a function that measures it again. What came of it is
a JSON file in `results`, its figures are in ``docs/images/experiments``, and `python -m
docs.generate` writes ``docs/experiments.md`` from both. Those that take long are cut short;
``--full`` runs them at their whole length, and what that has shown is kept until it runs again.
"""
