"""What the front-end understood of a grammar, as the core dumps it, against a reviewed file.

After a wanted change write the file anew: ``python plugins/frontend_ebnf/tests/test_golden.py``.
"""

from __future__ import annotations

from pathlib import Path

from glrmask_frontend_ebnf.plugin import EbnfFrontend

from glrmask_core.ir_text import dump

GOLDEN = Path(__file__).with_name("golden")


def understood() -> str:
    text = (GOLDEN / "sample.ebnf").read_text(encoding="utf-8")
    return dump(EbnfFrontend().parse(text, {}).module)


def test_the_dump_is_as_reviewed() -> None:
    assert understood() == (GOLDEN / "sample.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    (GOLDEN / "sample.txt").write_text(understood(), encoding="utf-8")
