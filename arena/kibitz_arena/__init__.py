"""Tournaments between bots: a pure core, reports, and a runner.

    tournament, config, consistency      the configuration: models, parsing, consistency
    schedule, pairing, block_design      the games to play
    journal, state                       events as lines, and the state that they fold to
    ratings, sprt, claims, results       the evaluation
    report/                              results as text, as a page, as files for programs
    runner/                              play; uses the network, files and the clock

The core imports no socket, no process and no clock, which import-linter checks.
"""
