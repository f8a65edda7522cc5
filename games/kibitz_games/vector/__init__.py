"""Many plays of one game at once, in machine code: for learners, trainers and measurements.

Its modules:

    batch    `VectorGame`: reset, step, observe, mask
    kernels  the kernels for a slice of the plays, which release the interpreter's lock
    slices   states side by side, and threads that work on them (trainers use them too)
    chance   random numbers that do not depend on the threads
"""

from kibitz_games.vector.batch import Rewards as Rewards
from kibitz_games.vector.batch import Step as Step
from kibitz_games.vector.batch import VectorGame as VectorGame
