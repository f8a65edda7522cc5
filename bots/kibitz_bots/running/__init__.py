"""The runtime for the matches of a bot, on a server or in this process.

Its modules:

    connection      a bot's connection, lobbies and matches
    match_session   one match: one turn at a time
    inprocess       running bots and whole matches in this process, without a server
    line_search     analyzing a position with the search of a bot
    threads         running turns in threads to keep the connection responsive
    warmup          compiling and loading before the first match; `memory_trim` releases memory
    seek_rounds     counting the rounds of seeks
    state_file      files with secrets, each locked by one process
    saved_seat      resuming a seat after the process was killed
    log_capture     recording a bot's output as notes
    source_digest   digests that distinguish versions of a bot
"""
