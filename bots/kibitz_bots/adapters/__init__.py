"""Interfaces for bots that are not a `kibitz.Bot`: other languages, other protocols.

Its modules:

    function  a plain function ``agent(observation) -> action``
    stdio     a program in any language, lines of JSON
    gomocup   a foreign engine of the Gomocup protocol; pbrain is the other direction
    foreign   the command-line options of a program; launch and program start it and talk to it
    aec       every game as a PettingZoo environment
    solo      one seat of a game as a Gymnasium environment
"""
