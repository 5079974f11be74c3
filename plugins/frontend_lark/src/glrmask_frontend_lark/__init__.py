"""lark front-end for glrmask."""
