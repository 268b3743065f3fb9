"""Vectors: one row a text, as every embedder gives them and every store keeps them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Of shape (texts, dimensions), each row of length 1.
Vectors = NDArray[np.float32]
