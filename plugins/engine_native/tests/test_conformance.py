"""What holds for any engine."""

from __future__ import annotations

from glrmask_core.testing.conformance import EngineSuite


class TestConformance(EngineSuite):
    engine = "native"
