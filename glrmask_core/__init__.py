"""The core of glrmask: IR, vocabulary, public objects, plug-in manager. Import ``glrmask`` to use it."""

__version__ = "0.1.0"
