"""jsonschema front-end for glrmask."""
