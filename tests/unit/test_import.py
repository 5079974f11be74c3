"""The public import: names, laziness, weight."""

from __future__ import annotations

import subprocess
import sys

import pytest

import glrmask


def test_every_public_name_is_there() -> None:
    for name in glrmask.__all__:
        assert getattr(glrmask, name) is not None
        assert name in dir(glrmask)
    assert sorted(glrmask.__all__) == glrmask.__all__
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = glrmask.nothing_here


def test_every_exception_is_public_and_in_the_tree() -> None:
    from glrmask_core import errors

    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Exception)]
    assert len(classes) > 15
    for cls in classes:
        assert getattr(glrmask, cls.__name__) is cls and issubclass(cls, glrmask.GlrmaskError)
        if cls is not glrmask.GlrmaskError:
            assert issubclass(cls, (ValueError, TypeError, RuntimeError, OverflowError))


def test_importing_brings_nothing_heavy() -> None:
    code = (
        "import sys, glrmask; glrmask.Vocab.from_dict({b'a': 0}); glrmask.Grammar; glrmask.Constraint\n"
        "bad = {'lark', 'jsonschema', 'cffi', '_cffi_backend', 'msgpack', 'importlib.metadata'} & set(sys.modules)\n"
        "bad |= {m for m in sys.modules if m.startswith(('glrmask_frontend', 'glrmask_engine'))}\n"
        "print(sorted(bad))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
