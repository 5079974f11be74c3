"""Types of the compiled cffi module: handles and functions are those of ``csrc/gm.h``, checked by the C compiler."""

from typing import Any

ffi: Any
lib: Any
