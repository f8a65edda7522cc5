"""Isolation of untrusted bots: from each other, from the event's files, from the machine.

uids        a user of its own for each, where this process may give one
sandbox     the command lines of the tools that isolate (bubblewrap, setpriv)
backends    which of the tools work here, found out by trying; what is said of it
launch      one process: scratch directory, environment, limits, descriptors, command line
supervisor  the parent of a bot's processes, outside: leaves none of them behind
entrypoint  the last step before the bot, inside: limits, and a port that leads to the server
relay       the other side of that port
"""
