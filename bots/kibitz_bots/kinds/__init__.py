"""The kinds of bots that the catalog and bot files are built from.

engine_bot      a search with an evaluation
random_bot      random moves
conspiring_bot  a search on behalf of several seats
function_bot    a plain function ``agent(observation)``
"""
