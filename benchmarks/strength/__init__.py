"""How strong the house bots are: what each has to show, played and written down.

    python -m benchmarks.strength [NAME ...] [--quick | --write]

Each tournament of ``matrix.yaml`` is a *case*: a tournament of `kibitz arena` with the claims that
it has to show. Without names all of them are played, each on a server of its own with a process for
every bot. What is cut off goes on when the same command is given again. ``--quick`` plays a tenth
of the games, to see that all is well. ``--write`` keeps what was found in ``results.jsonl``, from
which ``python -m docs.generate`` makes the page of strength. The status is 0 when every claim holds
and nobody dropped out.

cases     the tournaments of the matrix
runner    playing one of them
results   what is kept of it
"""
