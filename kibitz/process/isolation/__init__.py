"""Isolation of untrusted bots from each other, from the event's files and from the machine.

Modules:

    uids        allocates a separate user for each bot, if this process has the right to
    sandbox     the command lines of the tools that isolate (bubblewrap, setpriv)
    backends    tries which of the tools work here, and describes the choice
    launch      prepares a process: scratch directory, environment, limits, descriptors, command
    supervisor  the parent of a bot's processes, outside the sandbox; kills all of them at the end
    entrypoint  runs in the sandbox before the bot: sets limits, opens a port to the server
    relay       forwards connections from that port to the server, outside the sandbox
"""
