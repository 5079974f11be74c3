"""Tools for authors of engines and front-ends: an oracle engine, conformance checks, strategies, case files.

==================  ==========================================================================
module              holds
==================  ==========================================================================
``oracle``          the engine "oracle": slow, obvious, pure Python
``conformance``     test suites to subclass
``checks``          their check functions, which need no test runner
``compare``         two engines along texts, to the first difference
``strategies``      hypothesis strategies for modules, vocabularies, programs (needs hypothesis)
``worlds``          the same without hypothesis, from a ``random.Random``
``cases``           runs case files in JSON
``sweep``           ``python -m glrmask_core.testing.sweep``: an engine against the oracle
==================  ==========================================================================
"""
