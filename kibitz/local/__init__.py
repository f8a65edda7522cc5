"""Matches, tournaments and the demo on this machine: servers, bots and what they play."""
