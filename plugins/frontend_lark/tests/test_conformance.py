"""What holds for any front-end."""

from __future__ import annotations

from glrmask_core.testing.conformance import FrontendSuite, Sample


class TestConformance(FrontendSuite):
    format = "lark"
    samples = (
        Sample(
            'start: item ("," item)*\nitem: ID | "(" start ")"\nID: /[a-z]+/\n%ignore " "',
            accept=("a", "ab, (c,d)"),
            reject=("", "a,", "a b"),
        ),
    )
    errors = ("start", 'start: "a', 'start: ("a"', "start: x", "start: /(?=a)/")
