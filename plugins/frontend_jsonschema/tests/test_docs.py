"""The documentation prints the tables that the code dispatches on."""

from __future__ import annotations

from pathlib import Path

import pytest
from glrmask_frontend_jsonschema import combinators, formats, keywords, support
from glrmask_frontend_jsonschema.settings import OPTIONS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "json_schema.md"


def _page() -> str:
    if not PAGE.exists():
        pytest.skip("needs the docs folder of the checkout")
    return PAGE.read_text(encoding="utf-8")


def test_keyword_table_is_the_one_in_the_docs() -> None:
    assert support.keyword_table() in _page()


def test_format_table_is_the_one_in_the_docs() -> None:
    assert formats.format_table() in _page()


def test_every_option_is_documented() -> None:
    page = _page()
    assert [] == [name for name in OPTIONS if f"`{name}`" not in page]


def test_every_keyword_of_a_group_is_read() -> None:
    """A keyword of the table is mentioned by the code of its group's reader."""
    source = "".join(Path(str(m.__file__)).read_text(encoding="utf-8") for m in (keywords, combinators))
    readers = support.STRING | support.NUMBER | support.ARRAY | support.OBJECT | support.UNEVALUATED | support.TYPE
    for entry in support.TABLE:
        if entry.group & readers:
            assert f'"{entry.name}"' in source, entry.name
        if entry.group & (support.COMBINE | support.REFER):
            assert entry.name in combinators._READERS
