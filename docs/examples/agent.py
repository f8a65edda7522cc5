"""A function as a bot: kibitz play number-merge docs/examples/agent.py number-merge/random"""


def agent(observation):
    """Return the legal move in the middle, by its index."""
    return len(observation["legal"]) // 2
