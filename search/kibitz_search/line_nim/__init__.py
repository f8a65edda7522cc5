"""Line-Nim: an evaluation, a solver, and the player from the assignment.

Modules:

    evaluation       exact if all components are small and tame, otherwise an estimate
    bitboard         the free cells of a position as bits, and the lines among them
    retrograde       retrograde analysis of all subsets of the cells, 64 positions at once
    components       connected components, their canonical names, and misere theory
    proof_search     proof search over sums of components, for positions too large for a table
    solver           the search that combines these
    reference_agent  the alpha-beta player from the assignment that introduced the game
"""
