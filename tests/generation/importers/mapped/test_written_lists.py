"""Lists in the text of a cell, as Python, numpy, pandas and LangChain write them."""

import pytest

from generation.importers.mapped.written_lists import written_cell

NESTED = 32


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[{'a': ['x' 'y']} {'a': 'z'}]", [{"a": ["x", "y"]}, {"a": "z"}]),
        ("[['a' 'b']\n ['c' 'd']]", [["a", "b"], ["c", "d"]]),
        ("[list(['a']) array(['b'], dtype='<U1')]", [["a"], ["b"]]),
        ("array([{'a': 1},\n       {'a': 2.5}], shape=(2,), dtype=object)", [{"a": 1}, {"a": 2.5}]),
        (
            "Document(metadata={'n': None}, page_content=\"a\")",
            {"metadata": {"n": None}, "page_content": "a"},
        ),
        (
            "[Document(id='1', at=datetime.date(2026, 1, 2))]",
            [{"id": "1", "at": "datetime.date(2026, 1, 2)"}],
        ),
        (
            "[AIMessage(content='a'), SystemMessageChunk(content='b')]",
            [{"type": "ai", "content": "a"}, {"type": "system", "content": "b"}],
        ),
        (r"['\x41\u00e9\U0001F600\101\n\q', r'\n']", ["Aé😀A\n\\q", "\\n"]),
        (r"['\N{BULLET}', 'a\'\"']", ["•", "a'\""]),
        ("[''' it's ''', \"\"\"a \"b\" \"\"\", '', u'c']", [" it's ", 'a "b" ', "", "c"]),
        ("{'a', 'b'}", ["a", "b"]),
        ("('a',)", ["a"]),
        ("[('a'), ('b', 'c'), ()]", ["a", ["b", "c"], []]),
        ("['a', True, false, -inf, NaT, <NA>, +1e3]", ["a", True, False, "-inf", None, None, 1e3]),
        ("{1: 'a', None: 'b'}", {"1": "a", "None": "b"}),
        ("[ 'a' , ]", ["a"]),
    ],
)
def test_what_is_written_is_read(text, value):
    assert written_cell(text, NESTED) == (value, False)


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        ("['a' ... 'b']", True),
        ("array(['a', ..., 'b'], dtype=object)", True),
        ("['a''b']", True),  # Python would read one text
        ("['a' 'b', 'c']", True),
        ("['a'] ['b']", True),
        ("['a', b]", True),
        ("[Document('a', page_content='b')]", True),  # Either may be its text.
        ("[{'a': 1, 'a': 2}]", True),
        ("[{'a': 1, 'b'}]", True),
        ("[{['a']: 1}]", True),
        (r"['\ud83d', 'a']", True),  # cannot be stored
        (r"['\N{NO SUCH NAME}']", True),
        ("['a\nb']", True),
        ("['a', 1e999]", True),
        ("['a', " + "9" * 301 + "]", True),
        ("[" * 33 + "'a'" + "]" * 33, True),
        pytest.param("[" * 100_000, True, id="brackets"),
        pytest.param("array([" * 100_000, True, id="arrays"),
        pytest.param("['a'," * 1_100_000, True, id="many values"),
        pytest.param("['a'" + " 'a'" * 1_100_000 + "]", True, id="many values without commas"),
        ("[1, 2]", True),
        ("[2]", False),
        ("[text](https://a.example/[1])", False),
        ("('a') is a letter", False),
        ("('a')", False),
        ("{curly}", False),
        ("print('a')", False),
        ("Document('a') is one", False),
        ("a ['b', 'c']", False),
        ("", False),
    ],
)
def test_what_cannot_be_read_stays_a_text_and_says_whether_it_is_a_list(text, is_list):
    assert written_cell(text, NESTED) == (text, is_list)
