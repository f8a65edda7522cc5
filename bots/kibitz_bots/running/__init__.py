"""Runs the matches of a bot, on a server or in this process.

connection      one connection, its lobbies and its matches
match_session   one match: one turn at a time
inprocess       a bot that is asked in this process, and whole matches without a server
threads         turns in threads, so that the connection stays responsive
warmup          compiling and loading before the first match; `memory_trim` gives memory back
seek_rounds     seeks one after another
state_file      files of secrets that one process at a time uses
saved_seat      taking the same seat again after the process was killed
log_capture     what a bot prints, as notes in the record
source_digest   telling versions of a bot apart
"""
