"""The oracle engine, random grammars, and the checks that engines and front-ends are held to.

Nothing here is needed to run grammars. The oracle (engine name ``"oracle"``) is slow and plain on purpose:
it says what the right answer is.
"""
