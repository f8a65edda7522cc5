"""A standing ladder: continuously pairs the members of a lobby and rates them.

    runner        connects, hosts the lobby, and restarts the other parts for every session
    keeper        requests games and records their outcomes
    webhook       posts each result to a URL
    hosting       opens the lobby, or finds it after a crash
    publisher     writes the pages
    feed          the public data: standings, results, losses
    page          the feed as an HTML page
    pairing       who plays whom and in which seat (pure)
    state         the state derived from the journal (pure)
    entries       the journal's entries and their format
    journal_file  the journal on disk
    config        the ladder's configuration file

The ladder is an ordinary client: all it needs from the server is an arranged lobby.
"""
