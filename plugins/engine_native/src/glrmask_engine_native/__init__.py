"""The bundled mask engine: C behind cffi. Nothing here is public; use ``glrmask``."""
