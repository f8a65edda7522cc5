"""Tournaments between bots: a pure core, reports, and a runner.

tournament, config, consistency      the configuration: models, reading, what has to fit together
schedule, pairing, block_design      which games there are
journal, state                       what happened, as lines; the state that they fold to
ratings, sprt, claims, results       what it shows
report/                              results as text, as a page, as files for programs
runner/                              playing it; touches the network, files and the clock

The core imports no socket, no process and no clock, which import-linter checks.
"""
