"""The runner of a tournament: connections, processes, files. Callers provide servers and entrants.

    tournament_runner  runs a tournament to its end, in one or more sessions
    session            one session: scheduler, entrants, latency and progress in parallel
    hosting            the connection of the host, and its lobby
    arranged_lobby     the state of the lobby and its games, from updates and responses
    scheduler          requests games, a few at a time, and records the results
    supervisor         keeps the entrants' processes running
    services           Protocols for starting servers and entrants
    concurrency        the number of concurrent games, by measured latency
    records            game records and fault reports
    directory          the tournament's directory, which `journal_file` and `publish` write into
    journal_file       a journal file: one writer, synced to disk after every append
    publication        files for spectators, rewritten when the state changes
    progress           the progress display for people

Standing ladders (`kibitz_arena.ladder`) use the same hosting, lobby, journal file, directory and
publication.
"""
