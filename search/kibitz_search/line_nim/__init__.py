"""Line-Nim: an evaluation, exact play, and the assignment's own player.

Modules:

    evaluation       exact if all parts are small and tame, otherwise an estimate
    bitboard         the free cells of a position as bits, and its lines
    retrograde       retrograde analysis of every subset of the cells, 64 positions at once
    components       connected parts, their canonical forms, and misere theory
    proof_search     proof search over sums of parts, for positions too large for a table
    solver           the search that combines these
    reference_agent  the alpha-beta player of the assignment that the game is from
"""
