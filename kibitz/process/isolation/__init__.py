"""Isolation of untrusted bots from each other, from the event's files and from the machine.

Modules:

    uids        a separate user for each, if this process may assign one
    sandbox     the command lines of the tools that isolate (bubblewrap, setpriv)
    backends    which of the tools work here, by trial; a sentence about it
    launch      one process: scratch directory, environment, limits, descriptors, command line
    supervisor  the parent of a bot's processes, outside; cleans all of them up
    entrypoint  the last step before the bot, inside: limits, and a port that leads to the server
    relay       the other side of that port
"""
