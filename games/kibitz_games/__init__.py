"""The rules of the games: `core.game` is the interface, `core.registry` the list of them."""
