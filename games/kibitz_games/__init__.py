"""The rules of the games: `core.game` is their interface, `core.registry` finds them by name."""
