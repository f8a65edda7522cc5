"""Tournaments between bots: a pure core, reports, and a runner.

    tournament, config, consistency      the configuration: models, parsing, cross-checks
    schedule, pairing, block_design      which games to play
    journal, state                       the event log and the state derived from it
    ratings, sprt, claims, results       evaluation of the results
    report/                              results as text, as a web page, and as JSON and CSV
    runner/                              runs the tournament; uses the network, files and the clock

The core does not import sockets, processes or clocks; import-linter enforces this.
"""
