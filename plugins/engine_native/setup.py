"""Only what pyproject.toml cannot say: the extension module is made by cffi."""

from setuptools import setup

setup(cffi_modules=["build_native.py:ffibuilder"])
