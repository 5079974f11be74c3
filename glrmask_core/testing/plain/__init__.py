"""A second oracle, written independently of the first: the two check each other.

It is not registered as an engine; tests make :class:`glrmask_core.testing.plain.oracle.OracleEngine` themselves.
"""
