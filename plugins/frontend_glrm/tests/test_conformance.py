"""What holds for any front-end, and the core's random modules through the printer."""

from __future__ import annotations

from glrmask_frontend_glrm.plugin import GlrmFrontend
from glrmask_frontend_glrm.printer import to_glrm
from hypothesis import HealthCheck, assume, given, settings

from glrmask_core.errors import GrammarError
from glrmask_core.ir import Module
from glrmask_core.testing.conformance import FrontendSuite, Sample
from glrmask_core.testing.strategies import modules


class TestConformance(FrontendSuite):
    format = "glrm"
    samples = (
        Sample(
            'glrm 1; start s; ignore W; t W = " "; nt s = "," ~ (ID+); t ID = /[a-z]+/;',
            accept=("a", "ab, cd ,e"),
            reject=("", "a,", "a b"),
        ),
        Sample(
            'glrm 1; start c; g c = { start x; nt x = "(" x ")" | eps; };', accept=("", "(())"), reject=("(", "())")
        ),
        Sample("glrm 1; start s; t s = [é]/utf8{2} - 'ee' & .{4};", accept=("éé",), reject=("é", "ee")),
    )
    errors = ("", "glrm 1;", "glrm 1; start s; nt s = (;", "glrm 1; start s; nt s = x;", 'glrm 1; start s; t s = "')


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(modules())
def test_random_modules_print_stably(module: Module) -> None:
    try:
        text = to_glrm(module)
    except GrammarError:  # numbered tokens, any-order lists, exempt terminals: the printer's own tests have them
        assume(False)
        raise
    assert to_glrm(GlrmFrontend().parse(text, {}).module) == text
