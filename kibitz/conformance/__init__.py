"""The conformance suite behind `kibitz doctor`: a scripted server, matches on it, and the checks.

    runner ──> checks ──> match ──> server    one connection, one lobby
      │          │
      │        positions                      a position with one legal action
    bot_process, results                      the process of the bot; what each check came to

Everything that the bot is told follows from the seed; the bot alone decides when it answers.
"""
