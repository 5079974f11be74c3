"""ebnf front-end for glrmask."""
