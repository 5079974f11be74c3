"""Describes the extension module ``glrmask_engine_native._native`` to cffi (API mode, out of line).

The declarations that cffi reads are the part of ``csrc/gm.h`` between the two marker comments; the C
compiler reads the whole header. There is no second copy of them anywhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
BEGIN = "/* cdef begin */"
END = "/* cdef end */"


def declarations(header: str) -> str:
    """The text between the markers of a header."""
    _head, begin, rest = header.partition(BEGIN)
    body, end, tail = rest.partition(END)
    if not begin or not end or BEGIN in tail or END in tail:
        raise SystemExit(f'gm.h: expected exactly one part between "{BEGIN}" and "{END}"')
    return body


def compiler_options(platform: str) -> dict[str, list[object]]:
    """Flags of the compiler that this platform's Python uses; the sources are plain C11."""
    if platform == "win32":
        return {"extra_compile_args": ["/O2", "/std:c11", "/W3"], "define_macros": [("_CRT_SECURE_NO_WARNINGS", "1")]}
    return {
        "extra_compile_args": ["-O3", "-std=c11", "-fvisibility=hidden", "-pthread"],
        "extra_link_args": ["-pthread"],
        "define_macros": [("_DEFAULT_SOURCE", "1")],  # -std=c11 alone hides clock_gettime and madvise
    }


def build() -> FFI:
    """The cffi builder that ``setup.py`` names."""
    ffi = FFI()
    ffi.cdef(declarations((HERE / "csrc" / "gm.h").read_text(encoding="utf-8")))
    ffi.set_source(
        "glrmask_engine_native._native",
        '#include "gm.h"\n',
        sources=[f"csrc/{path.name}" for path in sorted((HERE / "csrc").glob("*.c"))],
        depends=[f"csrc/{path.name}" for path in sorted((HERE / "csrc").glob("*.h"))],
        include_dirs=["csrc"],
        **compiler_options(sys.platform),
    )
    return ffi


ffibuilder = build()
