"""The command line: ``glrmask`` or ``python -m glrmask``.

Exit codes: 0 done; 1 the grammar, vocabulary or an option's value was refused, or no output was possible;
2 wrong usage or an unreadable file; 3 a front-end or engine is missing or failed to load; 4 the ``jsonschema``
package disagrees with an output (a bug: please report it); 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import glrmask
from glrmask_core.errors import GlrmaskError, GrammarError, PluginError
from glrmask_core.plugins import KNOWN_ENGINES, KNOWN_FORMATS, manager

if TYPE_CHECKING:
    from glrmask_core.constraint import Constraint

    from .decoding import Output
    from .vocab_files import Loaded

OK, REFUSED, USAGE, PLUGIN, DISAGREES, INTERRUPTED = 0, 1, 2, 3, 4, 130

SUFFIXES = {".glrm": "glrm", ".ebnf": "ebnf", ".lark": "lark", ".json": "jsonschema"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; errors are told on stderr without a traceback."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except PluginError as error:
        return _complain(str(error), PLUGIN)
    except GrammarError as error:
        return _complain(_rendered(error, getattr(options, "text", ""), getattr(options, "path", "<grammar>")), REFUSED)
    except GlrmaskError as error:
        return _complain(str(error), REFUSED)
    except UnicodeDecodeError as error:
        where = getattr(options, "path", "") or "input"
        return _complain(f"{where}: not UTF-8 text: byte {error.object[error.start]:#04x} at {error.start}", USAGE)
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error), USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)


def _complain(message: str, code: int) -> int:
    _tell(f"glrmask: {message}")
    return code


def _rendered(error: GrammarError, text: str, name: str) -> str:
    """Every diagnostic with its place, or the bare message when there is none."""
    return "\n".join(d.render(text, name) for d in error.diagnostics) or str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="glrmask", description="Grammar-constrained decoding.")
    parser.add_argument("--version", action="version", version=f"glrmask {glrmask.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("plugins", help="list front-ends and engines, and what failed to load")
    command.set_defaults(run=_plugins)

    command = commands.add_parser("check", help="read a grammar and show what was understood")
    _grammar_arguments(command)
    command.add_argument("--quiet", action="store_true", help="only warnings, not the grammar")
    command.set_defaults(run=_check)

    command = commands.add_parser("generate", help="write texts of a grammar with a small model")
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--schema", metavar="FILE", help="a JSON Schema")
    source.add_argument("--grammar", metavar="FILE", help="a grammar in another format")
    command.add_argument("--format", help="of --grammar; by default told from the file name")
    _option_argument(command)
    command.add_argument("--vocab", metavar="FILE", help="a vocabulary file instead of the embedded model")
    command.add_argument("--seed", type=_seed, default=0, help="same seed, same output (default 0)")
    command.add_argument("--count", type=_positive, default=1, help="number of outputs (default 1)")
    command.add_argument("--max-tokens", type=_positive, default=512, help="budget of one output (default 512)")
    command.add_argument(
        "--temperature", type=_temperature, default=0.8, help="lower is more predictable (default 0.8)"
    )
    command.add_argument("--engine", help="by default the best one installed")
    command.add_argument(
        "--optimization",
        choices=["auto", "fast_build", "balanced", "fast_runtime"],
        default="auto",
        help="of compiling",
    )
    command.set_defaults(run=_generate)
    return parser


def _grammar_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("grammar", metavar="GRAMMAR", help="a file, or - for standard input")
    command.add_argument("--format", help="by default told from the file name: " + ", ".join(sorted(SUFFIXES)))
    _option_argument(command)


def _option_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o", "--option", metavar="NAME=VALUE", action="append", default=[], type=_option, help="for the front-end"
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, found {value}")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more, found {value}")
    return value


def _temperature(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of 0 or more, found {text}")
    return value


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _read(options: argparse.Namespace, path: str, format_: str | None) -> str:
    """The format of a grammar file; leaves its name and text in ``options``, for messages too."""
    if path == "-":
        options.path = "<stdin>"
        options.text = sys.stdin.read()
    else:
        options.path = path
        options.text = Path(path).read_text(encoding="utf-8")
    format_ = format_ or SUFFIXES.get(Path(path).suffix)
    if format_ is None:
        known = ", ".join(sorted(manager().frontends())) or "none"
        raise PluginError(f"{path}: cannot tell the format from the name; say --format (installed: {known})")
    return format_


# -- plugins and check ------------------------------------------------------------------------------------


def _plugins(_options: argparse.Namespace) -> int:
    rows = []
    for plugin in manager().plugins():
        provides = [f"format {name}" for name in plugin.frontends] + [f"engine {name}" for name in plugin.engines]
        state = f"FAILED: {plugin.error}" if plugin.error else ", ".join(provides) or "nothing"
        rows.append((plugin.name, plugin.origin, state))
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    for name, origin, state in rows:
        print(f"{name:{widths[0]}}  {origin:{widths[1]}}  {state}")
    missing = sorted(set(KNOWN_FORMATS.values()) | set(KNOWN_ENGINES.values()))
    missing = [name for name in missing if name not in {plugin.distribution for plugin in manager().plugins()}]
    if missing:
        print("not installed: " + ", ".join(missing))
    return OK


def _check(options: argparse.Namespace) -> int:
    frontend = manager().frontend(_read(options, options.grammar, options.format))
    settings = dict(options.option)
    parsed = frontend.parse(frontend.prepare(options.text, settings), settings)
    from glrmask_core.ir_lint import lint

    for warning in (*parsed.warnings, *lint(parsed.module)):
        _tell(f"warning: {warning.render(options.text, options.path)}")
    for line in parsed.left_out:
        _tell(f"not enforced: {line}")
    if not options.quiet:
        from glrmask_core.ir_text import dump

        print(dump(parsed.module).rstrip("\n"))
    return OK


# -- generate ---------------------------------------------------------------------------------------------


def _generate(options: argparse.Namespace) -> int:
    import numpy as np

    from .decoding import Decoder
    from .vocab_files import load_vocab

    format_ = _read(options, options.schema or options.grammar, "jsonschema" if options.schema else options.format)
    settings = dict(options.option)
    if options.schema:
        settings.setdefault("whitespace", "dumps")  # one document per line, and no tokens spent on layout
    grammar = glrmask.Grammar.from_source(options.text, format=format_, **settings)
    loaded = load_vocab(options.vocab)
    started = time.perf_counter()
    constraint = grammar.compile(
        loaded.vocab,
        end_tokens=[loaded.end_token],
        optimization=glrmask.Optimization(options.optimization),
        engine=options.engine,
    )
    _tell_compiled(constraint, loaded, time.perf_counter() - started)
    decoder = Decoder(
        constraint,
        loaded.tokens,
        loaded.end_token,
        loaded.model.probabilities if loaded.model else None,
        options.temperature,
    )
    rng = np.random.default_rng(options.seed)
    outputs = []
    for number in range(1, options.count + 1):
        with _Progress(f"output {number} of {options.count}: " if options.count > 1 else "") as progress:
            outputs.append(decoder.decode(rng, options.max_tokens, progress.show))
        sys.stdout.write(outputs[-1].text.decode("utf-8", "replace") + "\n")
        sys.stdout.flush()
    _tell_figures(outputs)
    return _tell_validity(options.text, outputs) if options.schema else OK


class _Progress:
    """One line on stderr that is written over; nothing when stderr is not a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._live = sys.stderr.isatty()
        self._next = 0.0

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, tokens: int) -> None:
        """Show the number of tokens, at most twenty times a second."""
        if self._live and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.05
            sys.stderr.write(f"\r{self._title}{tokens} tokens")
            sys.stderr.flush()


def _tell(text: str) -> None:
    """On stderr; what a grammar text brought along does not steer the terminal."""
    print("".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text), file=sys.stderr)


def _tell_compiled(constraint: Constraint, loaded: Loaded, seconds: float) -> None:
    _tell(
        f"compiled in {1e3 * seconds:.1f} ms by engine {constraint.report.engine}; "
        f"vocabulary {loaded.name}, {len(loaded.vocab)} tokens"
    )
    for diagnostic in constraint.report.warnings:
        _tell(f"warning: {diagnostic.message}")
    for line in constraint.report.left_out:
        _tell(f"not enforced: {line}")


def _tell_figures(outputs: Sequence[Output]) -> None:
    tokens = sum(len(output.tokens) for output in outputs)
    seconds = sum(output.seconds for output in outputs)
    completed = sum(output.completed for output in outputs)
    tail = f", the last {completed} to finish within the budget" if completed else ""
    _tell(f"{tokens} tokens in {seconds:.3f} s{tail}")
    _tell("mask   " + _quantiles([s for output in outputs for s in output.mask_seconds]))
    _tell("commit " + _quantiles([s for output in outputs for s in output.commit_seconds]))


def _quantiles(seconds: list[float]) -> str:
    if not seconds:
        return "not called"
    ordered = sorted(seconds)
    p50, p99 = (ordered[min(int(q * len(ordered)), len(ordered) - 1)] for q in (0.5, 0.99))
    return f"p50 {1e6 * p50:.1f} µs, p99 {1e6 * p99:.1f} µs, max {1e6 * ordered[-1]:.1f} µs"


def _tell_validity(schema_text: str, outputs: Sequence[Output]) -> int:
    """Whether the ``jsonschema`` package accepts every output."""
    try:
        from jsonschema import validators
    except ImportError:
        _tell('not validated: the package "jsonschema" is not installed')
        return OK
    schema = json.loads(schema_text)
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    for output in outputs:
        error = next(validator.iter_errors(json.loads(output.text)), None)
        if error is not None:
            _tell(f"jsonschema disagrees at {error.json_path}: {error.message}; this is a bug, please report it")
            return DISAGREES
    _tell(f"jsonschema agrees: {len(outputs)} of {len(outputs)} outputs are valid")
    return OK
