"""A function as a bot: kibitz play number-merge docs/examples/agent.py number-merge/random"""


def agent(observation):
    """Return the index of the middle one of the legal moves."""
    return len(observation["legal"]) // 2
