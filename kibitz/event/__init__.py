"""Events as processes: the shell around `kibitz_clients.arena`, which `kibitz arena` runs.

house      where an event takes place: a server, a lobby, the processes, what happens when they go
director   arranges the games, a few at a time, and writes down what they end as
entrants   the processes of the entrants, kept alive
folder     the event's directory
archive    a record of each game in it, and reports
width      how many games at the same time
ticker     what a person sees meanwhile
"""
