"""The runtime for the matches of a bot, on a server or in this process.

Its modules:

    connection      one connection, its lobbies and its matches
    match_session   one match: one turn at a time
    inprocess       asking a bot in this process, and whole matches without a server
    threads         turns in threads, so that the connection stays responsive
    warmup          compiling and loading before the first match; `memory_trim` releases memory
    seek_rounds     seeks one after another
    state_file      files of secrets, each used by one process at a time
    saved_seat      taking the same seat again after the process was killed
    log_capture     the output of a bot, as notes in the record
    source_digest   digests that distinguish versions of a bot
"""
