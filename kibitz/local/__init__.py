"""Matches, tournaments and the demo on this machine."""
