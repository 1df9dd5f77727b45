"""The comparison of two commits' answers finds every difference, and nothing else."""

import io
import zipfile

from tests.same_outputs.collection import Answer, Collection, Collector
from tests.same_outputs.comparison import Allowed, compare


def page(body: str, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "text/html"}, body.encode())


def zipped(text: str, year: int) -> Answer:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("study.json", (year, 1, 1, 0, 0, 0)), text)
    return Answer(200, {}, out.getvalue())


def test_a_planted_byte_is_found_and_shown():
    before = {"/a": page("<b>first<p>5 votes<i>last"), "/b": page("same")}
    after = {"/a": page("<b>first<p>6 votes<i>last"), "/b": page("same")}

    outcome = compare(before, after)

    (found,) = outcome.different
    assert found.address == "/a"
    assert {"-<p>5 votes", "+<p>6 votes"} <= set(found.lines)
    assert outcome.equal == ["/b"]
    assert not outcome.is_same


def test_of_a_page_only_white_space_that_is_seen_counts():
    before = {"/a": page('<p id="a">one two</p><p>'), "/b": page("<b>one</b> two")}
    after = {"/a": page('<p\n  id="a" >one\n  two</p>\n\n<p>'), "/b": page("<b>one</b>two")}

    outcome = compare(before, after)

    assert outcome.equal == ["/a"]
    assert [each.address for each in outcome.different] == ["/b"]


def test_a_header_a_status_and_a_lost_address_are_differences():
    before = {"/a": page(""), "/b": page(""), "/c": page("")}
    after = {"/a": page("", status=404), "/b": Answer(200, {"Location": "/x"}, b""), "/d": page("")}

    outcome = compare(before, after)

    assert [each.address for each in outcome.different] == ["/a", "/b"]
    assert (outcome.only_before, outcome.only_after) == (["/c"], ["/d"])


def test_tokens_are_masked_and_what_stands_beside_them_is_not():
    form = '<input name="csrfmiddlewaretoken" value="{}"><p>{}</p>'
    before = {"/a": page(form.format("a" * 64, 1)), "/b": page(form.format("a" * 64, 1))}
    after = {"/a": page(form.format("b" * 64, 1)), "/b": page(form.format("b" * 64, 2))}

    outcome = compare(before, after)

    assert outcome.equal == ["/a"]
    assert [each.address for each in outcome.different] == ["/b"]


def test_a_zip_file_is_its_members_whenever_it_was_packed():
    before = {"/a": zipped("same", 2024), "/b": zipped("one", 2024)}
    after = {"/a": zipped("same", 2025), "/b": zipped("two", 2024)}

    outcome = compare(before, after)

    assert outcome.equal == ["/a"]
    assert {"-one", "+two"} <= set(outcome.different[0].lines)


def test_a_pdf_file_is_its_lines_however_its_objects_are_numbered():
    pdf = b"%PDF-1.7\n{} 0 obj\n/xo{} {} 0 R\n/gs1 9 0 R\n(text of {})\nxref\n{}"

    def drawn(number: int, text: str) -> Answer:
        body = pdf.decode().format(number, number, number, text, number).encode()
        return Answer(200, {}, body)

    before = {"/a": drawn(1, "a figure"), "/b": drawn(1, "a figure")}
    after = {"/a": drawn(2, "a figure"), "/b": drawn(1, "another")}

    outcome = compare(before, after)

    assert outcome.equal == ["/a"]
    assert [each.address for each in outcome.different] == ["/b"]


def test_an_allowed_difference_is_none_and_an_idle_pattern_is_named():
    before = {"/a/1": page("old"), "/a/2": page("same")}
    after = {"/a/1": page("new"), "/a/2": page("same")}
    meant, idle = Allowed("/a/.*", "reworded"), Allowed("/a/2", "reworded long ago")

    outcome = compare(before, after, [meant, idle])

    assert outcome.is_same
    assert outcome.allowed == ["/a/1"]
    assert outcome.unused == [idle]


def test_stored_answers_are_read_as_they_were(tmp_path):
    answer = Answer(200, {"Content-Type": "image/png"}, b"\x89PNG\x00")
    collector = Collector(tmp_path)
    collector.store("admin GET /figure.png", answer)
    collector.store("admin GET /figure.png", page("the first counts"))

    assert dict(Collection(tmp_path)) == {"admin GET /figure.png": answer}


def test_where_words_may_differ_numbers_keys_columns_and_fields_may_not():
    def answer(kind: str, body: str) -> Answer:
        return Answer(200, {"Content-Type": kind}, body.encode())

    field = '<input type="text" name="{}">'
    before = {
        "/words": page("<p>Mend 5 files</p>"),
        "/number": page("<p>5 files</p>"),
        "/field": page(field.format("cut")),
        "/json": answer("application/json", '{"why": "Mend it.", "n": 1}'),
        "/key": answer("application/json", '{"n": 1}'),
        "/csv": answer("text/csv", "why,n\nMend it,0.5\n"),
        "/column": answer("text/csv", "why,n\n"),
    }
    after = {
        "/words": page("<p>Fix these 5 files</p>"),
        "/number": page("<p>6 files</p>"),
        "/field": page(field.format("cutoff")),
        "/json": answer("application/json", '{"why": "Fix the file.", "n": 1}'),
        "/key": answer("application/json", '{"m": 1}'),
        "/csv": answer("text/csv", "why,n\nFix the file,0.5\n"),
        "/column": answer("text/csv", "reason,n\n"),
    }

    outcome = compare(before, after, may_differ_in_words=True)

    assert outcome.equal == ["/csv", "/json", "/words"]
    assert [each.address for each in outcome.different] == ["/column", "/field", "/key", "/number"]
