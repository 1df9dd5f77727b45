"""One big JSON list, entry by entry: a bad one is reported, the others are read."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.importers import DatasetError, Limits
from generation.importers import sources as sources_module
from generation.importers.json_items import json_items
from generation.importers.sources import Source
from generation.records import Problem

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
names = st.text('ab"\\[]{},é', max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | names | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=3)


def read(folder, content, limits=None):
    path = folder / "list.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    source = Source(path, limits)
    try:
        return list(json_items(source, path.name))
    finally:
        source.close()


def told(items):
    """Return each entry's values, or the place of its problem with what was found."""
    return [
        (item.where.line, item.found) if isinstance(item, Problem) else item.values
        for item in items
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    entries=st.lists(objects, max_size=4), n_bytes=st.integers(1, 40), indent=st.none() | st.just(1)
)
def test_entries_are_read_whole_wherever_the_pieces_of_the_file_end(
    tmp_path, entries, n_bytes, indent
):
    text = json.dumps(entries, indent=indent, ensure_ascii=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources_module, "_BUFFER", n_bytes)
        assert told(read(tmp_path, text)) == entries


def test_an_entry_that_cannot_be_read_is_named_by_its_number_and_stops_no_other(tmp_path):
    bad = [
        ('{"a": tru}', "JSON"),
        ("7", "7"),
        ("", "nothing"),
        ('{"a": 1, "a": 2}', 'the key "a" twice'),
        ('{"a": [Nan]}', "JSON"),
        ('{"a": "\\u0000"}', "a NUL character"),
    ]
    text = "[" + ",".join(f'{{"n": {n}}}, {entry}' for n, (entry, _) in enumerate(bad)) + "]"

    items = read(tmp_path, text)

    assert [item.values for item in items[::2]] == [{"n": n} for n in range(len(bad))]
    assert [item.where.line for item in items] == list(range(1, 13))
    for item, (_, found) in zip(items[1::2], bad, strict=True):
        assert found in f"{item.found} {item.expected}"


def test_bytes_that_are_no_text_are_a_problem_of_their_entry(tmp_path):
    assert told(read(tmp_path, b'[{"a": "\xff"}, {"a": "\xc3\xa9"}]')) == [
        (1, "byte 0xff at byte 8 of the entry"),
        {"a": "é"},
    ]


def test_a_comma_before_the_end_is_an_entry_without_content(tmp_path):
    assert told(read(tmp_path, '[{"a": 1},\n]\n')) == [{"a": 1}, (2, "nothing")]
    assert read(tmp_path, "[ ]") == []


def test_an_entry_that_is_too_long_is_not_held_and_the_next_one_is_read(tmp_path):
    long = json.dumps({"text": "x" * 200})

    items = read(tmp_path, f'[{long}, {{"a": 1}}]', Limits(max_line_bytes=100))

    assert told(items) == [(1, "an entry of more than 100 bytes"), {"a": 1}]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[{"a": 1}', r'in this entry ("{\"a\": 1}")'),
        ('[{"a": 1},\n', "after the last entry"),
        ('[{"a": 1}, {"b": [', r'in this entry ("{\"b\": [")'),
        ('[{"a": 1}, {"b": "]', r'in this entry ("{\"b\": \"]")'),
    ],
)
def test_a_file_that_ends_inside_the_list_says_where(tmp_path, text, where):
    *_, last = read(tmp_path, text)

    assert last.found == f"the end of the file {where}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        (" \n", "an empty file"),
        ('{"a": 1}', r"\{"),
        ("[] x", "x"),
        ("[{}]]", "after the list"),
    ],
)
def test_what_is_not_one_list_is_refused(tmp_path, text, found):
    with pytest.raises(DatasetError, match=found):
        read(tmp_path, text)


def test_entries_count_as_rows(tmp_path):
    with pytest.raises(DatasetError, match="more than 2 rows"):
        read(tmp_path, "[{}, {}, {}]", Limits(max_rows=2))
