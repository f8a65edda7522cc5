"""Races of Chinese Checkers: what is left when no peg can meet a foreign one any more.

triangle  the holes nearest the goal, and sets of pegs in them as numbers
table     the exact number of moves that every such set is from the goal
contact   whether foreign pegs still matter
solo      the shortest race found from anywhere, with the table as its heuristic
opening   the first moves, from a book that was searched out in advance
finish    the race as the last stage of a search
phases    a bot in phases: the book, a search in the middle, the race
"""
