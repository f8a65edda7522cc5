"""The old place of the environments for learners; deleted with `kibitz_bots.deprecated`."""
