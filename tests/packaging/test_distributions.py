"""What is installed: typed, no requirement that names the other project, entry points, wheel contents."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "glrmask-core": ("glrmask", "glrmask_core"),
    "glrmask-frontend-glrm": ("glrmask_frontend_glrm",),
    "glrmask-frontend-ebnf": ("glrmask_frontend_ebnf",),
    "glrmask-frontend-lark": ("glrmask_frontend_lark",),
    "glrmask-frontend-jsonschema": ("glrmask_frontend_jsonschema",),
    "glrmask-engine-native": ("glrmask_engine_native",),
}


def installed(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_are_typed(name: str) -> None:
    installed(name)
    for package in PACKAGES[name]:
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None, package
        assert Path(spec.origin).with_name("py.typed").exists(), package


@pytest.mark.parametrize("name", PACKAGES)
def test_requirements_never_name_the_other_project(name: str) -> None:
    distribution = installed(name)
    names = [re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0].lower() for text in distribution.requires or ()]
    assert "glrmask" not in names
    assert distribution.metadata["Requires-Python"] == ">=3.10"


@pytest.mark.parametrize("name", PACKAGES)
def test_entry_points_are_in_our_group(name: str) -> None:
    points = [p for p in installed(name).entry_points if p.group == "glrmask"]
    assert len(points) == 1
    assert points[0].value.endswith(".plugin")


def test_core_needs_little() -> None:
    requires = installed("glrmask-core").requires or []
    always = {re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in requires if "extra ==" not in text}
    assert always == {"numpy", "pluggy", "msgpack"}


def wheels() -> list[Path]:
    return sorted((ROOT / "dist-wheels").glob("*/*.whl"))


def test_wheels_hold_packages_and_nothing_else() -> None:
    if not wheels():
        pytest.skip("no wheels built yet: python scripts/wheels.py build")
    for wheel in wheels():
        name = wheel.name.split("-")[0].replace("_", "-")
        tops = {entry.split("/")[0] for entry in zipfile.ZipFile(wheel).namelist()}
        packages = {top for top in tops if not top.endswith(".dist-info")}
        assert packages == set(PACKAGES[name]), wheel.name
        if name == "glrmask-engine-native":
            assert "-cp310-abi3-" in wheel.name
        else:
            assert wheel.name.endswith("-py3-none-any.whl")
        if name == "glrmask-core":
            entries = zipfile.ZipFile(wheel).namelist()
            size = next(i.file_size for i in zipfile.ZipFile(wheel).infolist() if i.filename.endswith("default.npz"))
            assert size < 1_000_000 and "glrmask/py.typed" in entries
