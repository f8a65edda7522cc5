"""The conformance suite behind `kibitz doctor`: a scripted server, matches on it, and the checks.

    runner ──> checks ──> match ──> server    one connection, one lobby
      │          │
      │        positions                      a position with one legal action
    bot_process, results                      the process of the bot; what each check came to

All messages to the bot follow from the seed; only the bot decides when it answers.
"""
