"""The figures of the paper, computed again: `python -m paper moons`, or `make reproduce`.

`figures` has one module a figure, `baselines` the methods that the paper compares with, `runner`
the parallel map over tasks, and `records` the file that keeps the results of finished tasks.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
