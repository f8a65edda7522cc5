"""Interfaces for bots that are not a `kibitz.Bot`: other languages, other protocols.

Its modules:

    stdio             a program in any language that speaks JSON lines
    gomocup_client    a Gomocup engine as a bot
    gomocup_server    a bot as a Gomocup engine
    external_program  the command-line options for external programs
    launcher          starting a program with limits
    line_process      exchanging lines with a running program
    pettingzoo        every game as a PettingZoo environment
    gymnasium         one seat of a game as a Gymnasium environment
    opponents         the bots in the other seats of an environment
"""
