"""A standing ladder: members of one lobby are paired without an end, and rated by their games.

    runner     connects, hosts the lobby, and restarts all below after the end of a session
    keeper     requests games and records their outcomes               webhook   sends results
    hosting    the lobby: found again after a crash, or opened          publisher writes the pages
    feed       the public data: standings, results, losses             page      the same as HTML
    pairing    who plays whom in which seat (pure)
    state      the fold over the journal (pure)
    journal    the entries, and their lines                             journal_file   the file
    config     the ladder's file

It is an ordinary client: it needs only an arranged lobby from the server.
"""
