"""Compiled functions, and the size from which on compiling pays.

The compiler takes longer to load than a small table to protect, so files of kernels are imported only where
they are needed, and compiled functions are stored on disk for the next run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

LARGE = 2500
"""Cells or arcs from which on the compiler is worth loading."""


def kernel(function: Function) -> Function:
    """Return a function that numba compiles at its first call and stores on disk, as a decorator."""
    from numba import njit

    made: Any = njit(cache=True, nogil=True, error_model="numpy")(function)
    if (file := getattr(made._cache, "_cache_file", None)) is not None:
        try:
            file._load_index()
        except (AttributeError, ImportError):
            # It was stored by another version of Tacita, whose classes are gone: numba would fail on it.
            file.flush()
    return cast("Function", made)


if TYPE_CHECKING:
    compile_once = kernel
else:
    compile_once = cache(kernel)
    """Return the compiled form of a function that also runs as it is; compile it once."""
