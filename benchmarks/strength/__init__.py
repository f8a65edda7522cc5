"""How strong the house bots are: what each has to show, played and written down.

    python -m benchmarks.strength [NAME ...] [--quick] [--write | --render]

Each ``*.yaml`` beside this file is a *target*: an event of `kibitz arena` with the claims that it
has to show. Without names all of them are played, each on a server of its own with a process for
every bot. What is cut off goes on when the same command is given again. ``--quick`` plays a tenth
of the games, to see that all is well. ``--write`` keeps what was found beside the event, as
``NAME.json``, and writes the table of ``docs/bots.md``; ``--render`` writes the table from what was
kept and plays nothing. The status is 0 when every claim holds and nobody dropped out.

targets   the event files
staging   playing one of them
outcome   what is kept of an event
table     the table of the docs
"""
