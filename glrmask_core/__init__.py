"""The core of glrmask: IR, vocabulary, public objects, plug-in manager. Import ``glrmask`` to use it."""
