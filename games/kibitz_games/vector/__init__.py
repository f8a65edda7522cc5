"""Many plays of one game at once, in machine code: for learners, trainers and measurements.

batch    `VectorGame`: reset, step, observe, mask
kernels  what it does to a slice of the plays, without the interpreter's lock
slices   states side by side and the threads that work on them, for trainers too
chance   random numbers that do not depend on the threads
"""

from kibitz_games.vector.batch import Rewards as Rewards
from kibitz_games.vector.batch import Step as Step
from kibitz_games.vector.batch import VectorGame as VectorGame
