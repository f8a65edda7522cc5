"""What a position is worth, one module a game; a function there makes the evaluation record."""
