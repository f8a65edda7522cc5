"""Many matches of one game at once, in machine code: for learners, trainers and benchmarks.

Modules:

    batch    `VectorGame`: reset, step, observe, mask
    kernels  kernels for a slice of the matches; they release the interpreter's lock
    slices   arrays of states, and threads that work on slices of them (also for trainers)
    chance   random numbers that do not depend on the number of threads
"""

from kibitz_games.vector.batch import Rewards as Rewards
from kibitz_games.vector.batch import Step as Step
from kibitz_games.vector.batch import VectorGame as VectorGame
