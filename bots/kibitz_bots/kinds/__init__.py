"""The kinds of bots that the catalog and files are made of.

engine_bot      a search with an evaluation
random_bot      chance
conspiring_bot  a search for several seats of its kind
function_bot    a plain function ``agent(observation)``
"""
