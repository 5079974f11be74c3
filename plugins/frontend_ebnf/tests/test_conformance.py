"""What holds for any front-end."""

from __future__ import annotations

from glrmask_core.testing.conformance import FrontendSuite, Sample


class TestConformance(FrontendSuite):
    format = "ebnf"
    samples = (
        Sample(
            's ::= item ("," item)*\nitem ::= ID | "(" s ")"\nID ::= [a-z]+',
            accept=("a", "ab,(c,d)"),
            reject=("", "a,"),
        ),
        Sample('s ::= ""\n   | [é-ë] s', accept=("", "éê"), reject=("e",)),
    )
    errors = ("", "s", 's ::= "a', 's ::= ("a"', "s ::= x", 's = "a"')
