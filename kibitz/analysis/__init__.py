"""A recorded match looked into: judged move by move, played on, and checked.

recorded_turns  the turns of a record, each with the match as it stood
seated_bot      a bot of this process at a seat of such a match
continuation    a match played on by seated bots, to its end
evaluation      what a bot says to every move of a record
evaluation_text the same for a terminal, as SVG, as JSON, and as a record with comments
branch          games that go on from one ply with a seat replaced
watched_match   a running match, from what a spectator is shown
shadow          a bot asked at every turn of a seat of a running match
record_source   records by what a person names
decisive_move   the move after which a seat could not have its better result any more
regression_test a pytest file that holds a bot to another answer
verification    whether a record is what a server that keeps the rules would have written

Bots run in this process, without clocks: they get a budget of milliseconds for each turn.
"""
