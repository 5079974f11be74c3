"""``Cache``: compiled constraints on disk, shared by threads and processes.

One file per constraint. A file appears whole or not at all (written aside, then ``os.replace``), is
verified when read, and a damaged one counts as missing. The total size is bounded: the files used longest
ago go first. No locks: two processes that compile the same thing write the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__
from .artifact import FORMAT_VERSION
from .checks import as_u32
from .constraint import Constraint, check_vocab, compile_options, select_engine
from .errors import ArgumentTypeError, ArtifactError
from .grammar import Grammar
from .ir import IR_VERSION
from .plugins import manager

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .options import CompileOptions, Limits, Optimization, ParserBackend
    from .vocab import ExactToken, ExactTokens, Vocab

SUFFIX = ".glrmask"
DEFAULT_MEBIBYTES = 1024


class Cache:
    """Compiled constraints in a directory.

    Args:
        directory: made if it does not exist. Use one that only trusted users can write.
        max_mebibytes: bound on the total size of the files.

    Raises:
        ArgumentTypeError: ``directory`` is no path of text, or ``max_mebibytes`` no integer.
        ArtifactError: a path that no file system can have (a NUL character, half of a surrogate pair).
        OSError: the directory cannot be made.

    Attributes:
        hits, misses: of this object, for figures.
    """

    def __init__(self, directory: str | os.PathLike[str], max_mebibytes: int = DEFAULT_MEBIBYTES) -> None:
        path = os.fspath(directory) if isinstance(directory, os.PathLike) else directory
        if not isinstance(path, str):
            raise ArgumentTypeError(
                f"Cache: directory must be a str or a path object of text, not {type(directory).__name__}"
            )
        self._directory = Path(path)
        self._max_bytes = as_u32(max_mebibytes, "Cache: max_mebibytes") << 20
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
        except ValueError as error:
            raise ArtifactError(f"Cache: directory {path!r} is no path ({error}); choose another name") from None
        self.hits = self.misses = 0

    @property
    def directory(self) -> Path:
        """Where the files are."""
        return self._directory

    def compile(
        self,
        grammar: Grammar,
        vocab: Vocab,
        *,
        end_tokens: Iterable[int | ExactToken] | ExactTokens | None = None,
        optimization: Optimization | None = None,
        parser_backend: ParserBackend | None = None,
        engine: str | None = None,
        background: bool = True,
        limits: Limits | None = None,
    ) -> Constraint:
        """Like ``grammar.compile(vocab, ...)``, from disk when it was compiled before.

        The key is the grammar (text, options, bindings), the vocabulary's identity, the options, and the
        versions of core, front-ends and engine.

        Raises:
            As ``Grammar.compile``. A cache that cannot be read or written is no error.
        """
        if not isinstance(grammar, Grammar):
            raise ArgumentTypeError(f"grammar must be a glrmask.Grammar, not {type(grammar).__name__}")
        options = compile_options(check_vocab(vocab), end_tokens, optimization, parser_backend, background, limits)
        chosen = select_engine(options, engine).name
        path = self._directory / (self._key(grammar, vocab, options, chosen) + SUFFIX)
        found = self._read(path, vocab, chosen, background, limits)
        if found is not None:
            self.hits += 1
            return found
        self.misses += 1
        made = grammar.compile(
            vocab,
            end_tokens=options.end_tokens,
            optimization=options.optimization,
            parser_backend=options.parser_backend,
            engine=chosen,
            background=background,
            limits=limits,
        )
        self._write(path, path.stem.encode() + made.save_with_external_vocab())
        return made

    def clear(self) -> None:
        """Remove all files of the cache."""
        for path in self._directory.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError):
                path.unlink()

    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size, _ in self._files())

    # -- inside -------------------------------------------------------------------------------

    @staticmethod
    def _key(grammar: Grammar, vocab: Vocab, options: CompileOptions, engine: str) -> str:
        plugins = manager()
        formats = sorted(_formats(grammar))
        parts: list[Any] = [
            __version__,
            IR_VERSION,
            FORMAT_VERSION,
            [(name, plugins.frontend_origin(name)) for name in formats],
            (engine, plugins.engine_origin(engine)),
            options.end_tokens,
            options.optimization.value,
            options.parser_backend.value,
            repr(options.limits),
        ]
        h = hashlib.blake2b(repr(parts).encode(), digest_size=20)
        h.update(grammar.digest())
        h.update(vocab.identity)
        return h.hexdigest()

    @staticmethod
    def _read(path: Path, vocab: Vocab, engine: str, background: bool, limits: Limits | None) -> Constraint | None:
        try:
            data = path.read_bytes()
        except OSError:
            return None
        key = path.stem.encode()  # a file under a wrong name is somebody else's grammar
        try:
            if not data.startswith(key):
                raise ArtifactError("another entry's file")
            found = Constraint.load(data[len(key) :], vocab, engine=engine, background=background, limits=limits)
        except ArtifactError:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
        return found

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file whole; whatever the file system refuses is let go."""
        if len(data) > self._max_bytes:
            return
        with contextlib.suppress(OSError):
            handle, aside = tempfile.mkstemp(".tmp", dir=self._directory)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(aside, path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(aside)
                raise
            self._shrink(path)

    def _shrink(self, keep: Path) -> None:
        """Remove the files used longest ago until the rest fits; and what a killed writer left."""
        files = sorted(self._files(), key=lambda f: f[0])
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= self._max_bytes:
                break
            if path != keep:
                with contextlib.suppress(OSError):
                    path.unlink()
                total -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        found = []
        for pattern in (f"*{SUFFIX}", "*.tmp"):
            for path in self._directory.glob(pattern):
                with contextlib.suppress(OSError):
                    status = path.stat()
                    found.append((status.st_mtime, status.st_size, path))
        return found


def _formats(grammar: Grammar) -> set[str]:
    found, todo = {id(grammar): grammar}, [grammar]
    while todo:
        for value in todo.pop().bindings.values():
            if isinstance(value, Grammar) and id(value) not in found:
                found[id(value)] = value
                todo.append(value)
    return {each.format for each in found.values()}
