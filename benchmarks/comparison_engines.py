"""Takes the place of the harness's ``engines.py`` in its working copy: the peers' adapters, and ours as options say.

``compare.py`` copies the harness, renames its ``engines.py`` to ``harness_engines.py`` and puts this file beside it.
"""

from __future__ import annotations

from typing import Any

from harness_engines import CONFIGS, Ours  # type: ignore[import-not-found]


class OursWithOptions(Ours):  # type: ignore[misc]
    """The harness's adapter with more options of ``compile``."""

    def __init__(self, vocab: Any, level: str = "AUTO", background: bool = True, **rest: Any) -> None:
        super().__init__(vocab, level, **rest)
        self.kw["background"] = background


CONFIGS["ours-auto-alone"] = (OursWithOptions, {"level": "AUTO", "background": False})


def make(name: str, vocab: Any, threads: int = 1) -> Any:
    """The engine of a configuration."""
    kind, options = CONFIGS[name]
    return kind(vocab, threads=threads, **options)
