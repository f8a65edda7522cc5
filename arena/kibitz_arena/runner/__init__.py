"""Running a tournament: connections, processes, files. Servers and entrants are handed to it.

tournament_runner  plays a tournament to its end, in as many sessions as it takes
session            one session: scheduler, entrants, latency and progress side by side
hosting            the connection that arranges the games, and its lobby
arranged_lobby     what news and answers say of the lobby and of its games
scheduler          requests games, a few at a time, and writes down what they end as
supervisor         the processes of the entrants, kept running
services           what starts servers and entrants, as Protocols
concurrency        how many games at the same time, by measured latency
records            a record of each game, and reports of faults
directory          the tournament's directory; `journal_file` and `publish` write into it
journal_file       a journal's file: one writer, on the disk after every append
publication        files for spectators, written as the state changes
progress           what a person sees meanwhile

A standing ladder (`kibitz_arena.ladder`) has the same host, lobby, journal file, directory and
publication.
"""
