"""glrm front-end for glrmask."""
