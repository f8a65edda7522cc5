"""The conformance suite behind `kibitz bot check`: a scripted server, matches, and the checks.

    runner ──> checks ──> match ──> server    one connection, one lobby
      │          └──> positions               finds a position with one legal action
      └──> bot_process, results               the bot's process; the outcome of each check

The seed determines all messages to the bot; only the timing of its answers varies.
"""
