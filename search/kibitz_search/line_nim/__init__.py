"""Line-Nim: an evaluation, exact play, and the assignment's own player.

evaluation       exact where all parts are small and tame, a guess elsewhere
bitboard         the free cells of a position as bits, and its lines
retrograde       every subset of the cells, 64 positions at once
components       connected parts, their canonical forms, and misere theory
proof_search     a search for what is too large for a table, over sums of parts
solver           the search that puts these together
reference_agent  the alpha-beta player of the assignment that the game is from
"""
