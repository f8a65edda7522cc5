"""The rules of kibitz's games: `api` is the interface, `registry` the list, one folder a game."""
