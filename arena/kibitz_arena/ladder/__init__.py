"""A standing ladder: members of one lobby are paired for ever, and their games rate them.

    runner     connects, hosts the lobby, and goes on with all below after whatever ends a session
    keeper     requests games and writes down what became of them      webhook   tells of results
    hosting    the lobby: found again after a crash, or opened          publisher writes the pages
    feed       what others are told: standings, results, losses        page      the same as HTML
    pairing    who plays whom in which seat (pure)
    state      the fold over the journal (pure)
    journal    the entries, and their lines                             journal_file   the file
    config     the ladder's file

It is an ordinary client: all that it asks of a server is an arranged lobby.
"""
