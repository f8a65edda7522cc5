"""The runner of a tournament: connections, processes, files. Callers pass servers and entrants.

    tournament_runner  plays a tournament to its end, in as many sessions as it takes
    session            one session: scheduler, entrants, latency and progress side by side
    hosting            the connection that arranges the games, and its lobby
    arranged_lobby     the lobby and its games, from news and answers
    scheduler          requests games, a few at a time, and records their results
    supervisor         the processes of the entrants, kept running
    services           starters of servers and entrants, as Protocols
    concurrency        the number of games at the same time, by measured latency
    records            a record of each game, and reports of faults
    directory          the tournament's directory; `journal_file` and `publish` write into it
    journal_file       a journal's file: one writer, synced to disk after every append
    publication        files for spectators, written as the state changes
    progress           the progress display for people

A standing ladder (`kibitz_arena.ladder`) has the same host, lobby, journal file, directory and
publication.
"""
