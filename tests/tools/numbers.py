"""Stand-ins for number types of libraries that the tests do not install."""

from __future__ import annotations


class Tensor:
    """A stand-in for a one-element tensor, which is an integer only by ``__index__``."""

    def __init__(self, value: int, dtype: str = "torch.int64") -> None:
        self._value = value
        self.dtype = dtype

    def __index__(self) -> int:
        return self._value
