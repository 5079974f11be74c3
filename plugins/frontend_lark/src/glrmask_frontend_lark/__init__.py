"""Lark front-end for glrmask: reads grammars in Lark's notation, ``Grammar.from_lark(text)``."""
