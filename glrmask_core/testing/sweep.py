"""``python -m glrmask_core.testing.sweep``: one engine, at every optimization, against the oracle.

Four parts: worlds picked by hand, all small worlds, random grammars, random parser programs. Prints counts;
the exit code is 1 after a difference, with what it takes to see it again.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Iterable, Sequence

from ..constraint import select_engine
from ..errors import GlrmaskError, LimitExceededError
from ..ir_text import dump
from ..options import CompileOptions, Optimization
from .compare import Counts, Difference, Plan, compare_program, compare_world
from .program_worlds import fixed_programs, roll_program
from .worlds import RandomDice, World, fixed_worlds, roll_world, small_worlds


def main(argv: Sequence[str] | None = None) -> int:
    """Run the sweep.

    Args:
        argv: arguments, those of the process by default; ``--help`` lists them.

    Returns:
        0 when all is equal, 1 after a difference.

    Cost: with the native engine about 50 ms per random grammar.
    """
    parser = argparse.ArgumentParser(
        prog="python -m glrmask_core.testing.sweep", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--engine", default="native", help="which engine to examine (default: native)")
    parser.add_argument("--grammars", type=int, default=2000, metavar="N", help="random grammars (default: 2000)")
    parser.add_argument("--programs", type=int, default=None, metavar="N", help="random programs (default: a quarter)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the first random world (default: 0)")
    parser.add_argument("--no-small", action="store_true", help="leave out the worlds that do not depend on the seed")
    options = parser.parse_args(argv)
    engine = select_engine(CompileOptions(optimization=Optimization.FAST_BUILD), options.engine)
    modes = [mode for mode in Optimization if mode in engine.capabilities.optimizations]
    programs = options.grammars // 4 if options.programs is None else options.programs
    seeds = range(options.seed, options.seed + options.grammars)
    try:
        if not options.no_small:
            _worlds("by hand", fixed_worlds(), engine.name, modes, Plan(4, 60, 80))
            _worlds("small", small_worlds(), engine.name, modes[:2], Plan(4, 0, 8))
        _worlds("random", ((seed, roll_world(RandomDice(seed))) for seed in seeds), engine.name, modes, None)
        if engine.capabilities.programs:
            _programs(range(options.seed, options.seed + programs), engine.name, modes)
        elif programs:
            print(f'programs: skipped, engine "{engine.name}" does not run them')
    except Difference as difference:
        print(difference, file=sys.stderr)
        return 1
    return 0


def _worlds(
    what: str,
    worlds: Iterable[World | tuple[int, World]],
    engine: str,
    modes: Sequence[Optimization],
    plan: Plan | None,
) -> None:
    counts, started = Counts(), time.perf_counter()
    for item in worlds:
        seed, world = item if isinstance(item, tuple) else (0, item)
        used = Plan(rng=random.Random(seed)) if plan is None else plan
        try:
            compare_world(world, engine, modes, used, counts)
        except (Difference, GlrmaskError) as error:
            raise Difference(
                f"{error if isinstance(error, Difference) else f'{type(error).__name__}: {error}'}\n"
                f"world: {what}, {world.note}, --seed {seed}\n{dump(world.module)}"
            ) from error
    print(f"{what}: {counts}, {time.perf_counter() - started:.1f} s", flush=True)


def _programs(seeds: range, engine: str, modes: Sequence[Optimization]) -> None:
    counts, started, beyond = Counts(), time.perf_counter(), 0
    rolled = ((seed, roll_program(RandomDice(seed))) for seed in seeds)
    for seed, world in itertools.chain(((0, world) for world in fixed_programs()), rolled):
        try:
            compare_program(world, engine, modes, Plan(3, 10, 20, random.Random(seed)), counts)
        except (Difference, GlrmaskError) as error:
            if isinstance(error, LimitExceededError) and str(error).startswith("oracle:"):
                beyond += 1  # more stacks than the oracle lists; what came before was compared
                continue
            raise Difference(f"{error}\nprogram of --seed {seed}: {world.patterns!r}, ignore {world.ignore}") from error
    print(f"programs: {counts}, {beyond} beyond the oracle, {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
