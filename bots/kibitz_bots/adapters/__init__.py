"""Ways in for those who do not write a `kibitz.Bot`: other languages, other interfaces.

function  a plain function ``agent(observation) -> action``
stdio     a program in any language, lines of JSON
gomocup   a foreign engine of the Gomocup protocol; pbrain is the other direction
foreign   what a command line says of a program; launch and program start it and talk to it
aec       every game as a PettingZoo environment
solo      one seat of a game as a Gymnasium environment
"""
