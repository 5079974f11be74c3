"""``NativeEngine``: the ``Engine`` protocol on the C library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glrmask_core.ir import Module
from glrmask_core.options import CompileOptions, Optimization
from glrmask_core.protocols import API_VERSION, CompiledGrammar, EngineCapabilities
from glrmask_core.vocab import Vocab

from ._native import ffi, lib
from .handles import forget_shared, owned, vocab_handle
from .heap import heap
from .program import encode
from .state import NativeState
from .status import new_error, raise_for, raise_in_state
from .worker import worker

if TYPE_CHECKING:
    from glrmask_core.program import ParserProgram

_MODES = {
    Optimization.AUTO: 0,
    Optimization.FAST_BUILD: 1,
    Optimization.BALANCED: 2,
    Optimization.FAST_RUNTIME: 3,
}


def _settings(options: CompileOptions) -> tuple[Any, Any]:
    """The ``GmOptions``, and the end tokens it points to, which the caller keeps alive."""
    limits = options.limits
    ends = ffi.new("uint32_t[]", options.end_tokens)
    settings = ffi.new(
        "GmOptions *",
        {
            "memory_bytes": limits.memory_bytes,
            "state_bytes": limits.state_bytes,
            "mask_cache_bytes": limits.mask_cache_bytes,
            "static_work": limits.static_work,
            "static_bytes": limits.static_bytes,
            "build_seconds": limits.build_seconds,
            "states": limits.states,
            "lexer_states": limits.lexer_states,
            "expansion": limits.expansion,
            "static_pairs": limits.static_pairs,
            "mode": _MODES[options.optimization],
            "background": options.background,
            "n_end_tokens": len(options.end_tokens),
            "end_tokens": ends,
        },
    )
    return settings, ends


def _arrays(module: Module) -> tuple[Any, ...]:
    """The arguments that are the arrays of a module."""
    return (
        ffi.from_buffer("int32_t[]", module.rows),
        len(module.rows) // 4,
        ffi.from_buffer("int32_t[]", module.args),
        len(module.args),
        ffi.from_buffer("uint8_t[]", module.blob),
        len(module.blob),
        ffi.from_buffer("int32_t[]", module.rules),
        len(module.rules) // 2,
    )


class NativeGrammar:
    """A compiled grammar (:class:`CompiledGrammar`)."""

    __slots__ = ("handle", "width")

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.width = int(lib.gm_constraint_width(handle))

    def start(self, max_rollback: int) -> NativeState:
        """See :meth:`CompiledGrammar.start`."""
        err = new_error()
        pointer = lib.gm_state_new(self.handle, max_rollback, err)
        if not pointer:
            raise_in_state(err)
        return NativeState._of(pointer, (self.width + 31) // 32)

    def warm(self) -> None:
        """Make one mask at the start and commit a token of it, for nothing but the processor's caches.

        After a build of milliseconds the first calls find code and tables in memory only: 60 us were measured instead
        of 6, which is what remains of the slowest masks once tables are closed.
        """
        state = self.start(0)
        words = np.empty((self.width + 31) // 32, np.uint32)
        state.fill_mask(words)
        filled = words.nonzero()[0]
        if len(filled):
            word = int(words[filled[0]])
            state.commit_token(32 * int(filled[0]) + (word & -word).bit_length() - 1)

    def save(self) -> bytes:
        """The tables closed by FAST_RUNTIME; nothing for the other modes, which fill theirs on need."""
        err = new_error()
        pointer = lib.gm_constraint_save(self.handle, err)
        if not pointer:
            raise_for(err)
        try:
            size = int(lib.gm_bytes_size(pointer))
            return bytes(ffi.buffer(lib.gm_bytes_data(pointer), size)) if size else b""
        finally:
            lib.gm_bytes_free(pointer)

    def report(self) -> Mapping[str, Any]:
        """See :meth:`CompiledGrammar.report`; sizes as of now, tables filled later included."""
        out = ffi.new("GmReport *")
        lib.gm_constraint_report(self.handle, out)
        return {
            name: int(getattr(out, name))
            for name in (
                "memory_bytes",
                "walked",
                "rules",
                "states",
                "lexer_states",
                "views",
                "steps",
                "summaries",
                "cached_masks",
                "mask_bytes",
                "warm_bytes",
                "left_recursive_rules",
            )
        }

    def usage(self) -> dict[str, int]:
        """Bytes by owner, as of now; they add up to ``memory_bytes`` of the report. See ``GmUsage`` in ``csrc/gm.h``.

        Raises:
            MemoryError: none left to count with.
        """
        out = ffi.new("GmUsage *")
        err = new_error()
        if lib.gm_constraint_usage(self.handle, out, err):
            raise_for(err)
        return {name: int(getattr(out, name)) for name, _field in ffi.typeof("GmUsage").fields}


class NativeEngine:
    """The bundled engine. Stateless; what it shares per vocabulary hangs on the vocabulary."""

    name = "native"
    api_version = API_VERSION
    priority = 100
    capabilities = EngineCapabilities(programs=True)

    def compile(self, module: Module, vocab: Vocab, options: CompileOptions) -> CompiledGrammar:
        """See :meth:`Engine.compile`."""
        return self.link(module, vocab, options, ())

    def link(
        self, module: Module, vocab: Vocab, options: CompileOptions, parts: Sequence[CompiledGrammar]
    ) -> CompiledGrammar:
        """Compile a module that holds those of ``parts``, whose tables of terminals are used again and kept alive."""
        settings, _ends = _settings(options)
        err = new_error()
        handles = [part.handle for part in parts if isinstance(part, NativeGrammar)]
        pointer = lib.gm_constraint_link(
            vocab_handle(vocab, options.limits),
            *_arrays(module),
            module.root,
            handles,
            len(handles),
            settings,
            err,
        )
        if not pointer:
            raise_for(err, module)
        handle = owned(pointer, lib.gm_constraint_free, 1 << 16)
        if options.optimization is Optimization.AUTO and options.background:
            worker.add(handle)
        grammar = NativeGrammar(handle)
        if options.optimization is Optimization.FAST_RUNTIME:
            grammar.warm()
        return grammar

    def compile_program(
        self, program: ParserProgram, patterns: Module, ignore: int | None, vocab: Vocab, options: CompileOptions
    ) -> CompiledGrammar:
        """See :meth:`Engine.compile_program`. AUTO fills nothing ahead of need here."""
        code = encode(program.definition)
        settings, _ends = _settings(options)
        err = new_error()
        pointer = lib.gm_program_new(
            vocab_handle(vocab, options.limits),
            *_arrays(patterns),
            ffi.from_buffer("int32_t[]", code),
            len(code),
            settings,
            err,
        )
        if not pointer:
            raise_for(err, patterns)
        return NativeGrammar(owned(pointer, lib.gm_constraint_free, 1 << 16))

    def load(self, module: Module, vocab: Vocab, options: CompileOptions, payload: bytes) -> CompiledGrammar:
        """See :meth:`Engine.load`."""
        if not payload:
            return self.compile(module, vocab, options)
        settings, _ends = _settings(options)
        err = new_error()
        pointer = lib.gm_constraint_load(
            vocab_handle(vocab, options.limits),
            *_arrays(module),
            module.root,
            ffi.from_buffer("uint8_t[]", payload),
            len(payload),
            settings,
            err,
        )
        if not pointer:
            raise_for(err, module)
        return NativeGrammar(owned(pointer, lib.gm_constraint_free, 1 << 16))

    def purge(self, force: bool) -> None:
        """Give back what is kept of freed memory; with ``force`` also the steps that vocabularies keep for constraints
        to come. Constraints that use them keep them alive."""
        if force:
            forget_shared()
        heap.purge()
