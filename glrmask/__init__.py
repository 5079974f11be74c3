"""Grammar-constrained decoding: exact next-token masks for language models.

Compile a grammar for a vocabulary, start a state per sequence, mask, commit::

    constraint = glrmask.Grammar.from_ebnf('start ::= "yes" | "no"').compile(vocab, end_tokens=[eos])
    state = constraint.start()
    state.mask()
    state.commit_token(token_id)

Names are imported when first used, so ``import glrmask`` itself costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glrmask_core import __version__

from . import _internal as _internal  # reads the memory policy from the environment, once

if TYPE_CHECKING:
    from glrmask_core.cache import Cache
    from glrmask_core.constraint import Constraint
    from glrmask_core.errors import (
        ArgumentTypeError,
        ArtifactError,
        BindError,
        CompileError,
        CompletionLengthError,
        ConcurrentUseError,
        GlrmaskError,
        GrammarError,
        GrammarSyntaxError,
        IdRangeError,
        InternalError,
        LimitExceededError,
        MaskShapeError,
        PluginError,
        StateError,
        StateRejectedError,
        TokenBytesError,
        UnknownFormatError,
        VocabError,
    )
    from glrmask_core.explain import Expected, Explanation
    from glrmask_core.grammar import Grammar
    from glrmask_core.options import Limits, Optimization, ParserBackend
    from glrmask_core.program import ParserProgram
    from glrmask_core.protocols import CompileReport
    from glrmask_core.source import Diagnostic, Span
    from glrmask_core.state import ConstraintState, fill_masks
    from glrmask_core.unlinked import UnlinkedConstraint
    from glrmask_core.vocab import ExactToken, ExactTokens, Vocab

__all__ = [
    "ArgumentTypeError",
    "ArtifactError",
    "BindError",
    "Cache",
    "CompileError",
    "CompileReport",
    "CompletionLengthError",
    "ConcurrentUseError",
    "Constraint",
    "ConstraintState",
    "Diagnostic",
    "ExactToken",
    "ExactTokens",
    "Expected",
    "Explanation",
    "GlrmaskError",
    "Grammar",
    "GrammarError",
    "GrammarSyntaxError",
    "IdRangeError",
    "InternalError",
    "LimitExceededError",
    "Limits",
    "MaskShapeError",
    "Optimization",
    "ParserBackend",
    "ParserProgram",
    "PluginError",
    "Span",
    "StateError",
    "StateRejectedError",
    "TokenBytesError",
    "UnknownFormatError",
    "UnlinkedConstraint",
    "Vocab",
    "VocabError",
    "__version__",
    "fill_masks",
]

_MODULES = {
    "cache": ("Cache",),
    "constraint": ("Constraint",),
    "explain": ("Expected", "Explanation"),
    "grammar": ("Grammar",),
    "options": ("Limits", "Optimization", "ParserBackend"),
    "program": ("ParserProgram",),
    "protocols": ("CompileReport",),
    "source": ("Diagnostic", "Span"),
    "state": ("ConstraintState", "fill_masks"),
    "unlinked": ("UnlinkedConstraint",),
    "vocab": ("ExactToken", "ExactTokens", "Vocab"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'glrmask' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"glrmask_core.{_HOME.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
