"""Exact play in Line-Nim, and the assignment's own player.

island    the free cells of a position as bits, and its lines
table     every subset of an island, 64 positions at once
parts     connected parts, their canonical forms, and misere theory
proof     a search for what is too large for a table, over sums of parts
solver    the search that puts these together
capstone  the alpha-beta player of the assignment that the game is from
"""
