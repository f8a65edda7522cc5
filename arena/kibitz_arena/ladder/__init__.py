"""A standing ladder: continuously pairs the members of a lobby and rates them.

    runner        connects, hosts the lobby, and starts the other parts again for every session
    keeper        requests games and records their outcomes
    webhook       sends results
    hosting       opening the lobby, or finding it after a crash
    publisher     writes the pages
    feed          the public data: standings, results, losses
    page          the same as HTML
    pairing       who plays whom and in which seat (pure)
    state         the state derived from the journal (pure)
    entries       the journal's entries and their format
    journal_file  the journal's file
    config        the ladder's file

The ladder is an ordinary client: all it needs from the server is an arranged lobby.
"""
