"""Analysis of recorded matches: evaluate them move by move, continue them, and verify them.

    recorded_turns  the turns of a record, each with the match at that point
    seated_bot      a bot that runs in this process in a seat of such a match
    continuation    plays a match to its end with seated bots
    evaluation      a bot's evaluation of every move of a record
    evaluation_text the evaluation as text for a terminal, as SVG, and as JSON
    branch          games that continue from a ply, with another bot in one seat
    watched_match   a running match as spectators see it
    shadow          a bot's moves at every turn of a seat of a running match
    record_source   loads the records that a user names
    match_process   a process that evaluates a match for a server
    decisive_move   the move after which a seat could no longer get a better result
    regression_test a pytest file that expects a different move from a bot
    verification    checks that a correct server could have written a record

Bots run in this process without clocks; each turn has a time budget in milliseconds.
"""
