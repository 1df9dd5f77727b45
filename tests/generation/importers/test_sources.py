"""The sources that a user may give (folder, zip, file, gzip), and the traps in files."""

import gzip
import os
import stat
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from generation.importers import DatasetError, Limits, open_material
from generation.importers.sources import Source
from generation.records import Problem

VOTES = "response,rater,question,answer\nr1,anna,sensible,yes\nr1,ben,sensible,no\n"


def read(path, kind="votes", limits=None):
    with open_material(path, limits=limits) as material:
        return list(material.records(kind))


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_folder_a_zip_a_file_and_their_gzipped_forms_give_the_same_votes(tmp_path):
    folder = tmp_path / "pilot"
    folder.mkdir()
    (folder / "votes.csv").write_text(VOTES)
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "votes.csv.gz").write_bytes(gzip.compress(VOTES.encode()))
    flat = zip_of(tmp_path / "flat.zip", {"votes.csv": VOTES})
    nested = zip_of(tmp_path / "nested.zip", {"pilot/votes.csv.gz": gzip.compress(VOTES.encode())})
    given = [folder, packed, flat, nested, folder / "votes.csv", packed / "votes.csv.gz"]

    answers = [[(vote.rater, vote.answer) for vote in read(path)] for path in given]

    assert answers == [[("anna", "yes"), ("ben", "no")]] * 6


def test_a_gzipped_file_and_a_zip_are_told_by_content_not_by_name(tmp_path):
    upload = tmp_path / "upload.csv"
    upload.write_bytes(gzip.compress(VOTES.encode()))
    other = zip_of(tmp_path / "upload.bin", {"votes.csv": VOTES})

    assert len(read(upload)) == len(read(other)) == 2


def test_records_can_be_read_twice_and_progress_counts_stored_bytes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)

    with open_material(path) as material:
        assert list(material.records("votes")) == list(material.records("votes"))

        assert material.bytes_total == len(VOTES)
        assert material.bytes_read == 2 * len(VOTES)


def test_unknown_files_are_reported_by_name_and_system_junk_is_not(tmp_path):
    path = zip_of(
        tmp_path / "d.zip",
        {
            "d/votes.csv": VOTES,
            "d/notes.txt": "hello",
            "d/deeper/votes.csv": VOTES,
            "__MACOSX/d/._votes.csv": "x",
            "d/.DS_Store": "x",
        },
    )

    with open_material(path) as material:
        assert sorted(material.ignored) == ["deeper/votes.csv", "notes.txt"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("../votes.csv", r"'\.\.'"),
        ("a/../../votes.csv", r"'\.\.'"),
        ("/etc/votes.csv", "absolute"),
        ("C:/votes.csv", "absolute"),
        ("..\\votes.csv", "backslash"),
    ],
)
def test_a_zip_member_that_points_elsewhere_stops_the_import(tmp_path, name, found):
    path = zip_of(tmp_path / "d.zip", {"votes.csv": VOTES, name: VOTES})

    with pytest.raises(DatasetError, match=found):
        read(path)


def test_a_symbolic_link_in_a_zip_stops_the_import(tmp_path):
    link = zipfile.ZipInfo("votes.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")

    with pytest.raises(DatasetError, match="symbolic link"):
        read(path)


def test_an_encrypted_zip_member_stops_the_import(tmp_path):
    path = zip_of(tmp_path / "d.zip", {"votes.csv": VOTES})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    path.write_bytes(bytes(data))

    with pytest.raises(DatasetError, match="encrypted"):
        read(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_cannot_be_bounded_while_reading_is_refused(tmp_path, method):
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("votes.csv", VOTES)

    with pytest.raises(DatasetError, match="compression method"):
        read(path)


def test_a_zip_with_too_many_members_or_one_name_twice_is_refused(tmp_path):
    many = zip_of(tmp_path / "many.zip", {f"{n}.txt": "" for n in range(4)})
    twice = tmp_path / "twice.zip"
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("votes.csv", VOTES)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("votes.csv", VOTES)

    with pytest.raises(DatasetError, match="4 files and folders"):
        read(many, limits=Limits(max_members=3))
    with pytest.raises(DatasetError, match="twice"):
        read(twice)


@pytest.mark.parametrize("wrapped", ["zip", "gz", "gz in zip"])
def test_a_bomb_stops_the_import_while_it_is_read(tmp_path, wrapped):
    header = b"response,rater,question,answer\n"
    content = header + b"0,0,0,0\n" * 2_000_000  # 16 MB, a few kB when packed
    path = tmp_path / ("votes.csv.gz" if wrapped == "gz" else "d.zip")
    if wrapped == "gz":
        path.write_bytes(gzip.compress(content))
    elif wrapped == "zip":
        zip_of(path, {"votes.csv": content})
    else:
        zip_of(path, {"votes.csv.gz": gzip.compress(content)})

    with pytest.raises(DatasetError, match="more than 1,000,000 bytes once unpacked"):
        read(path, limits=Limits(max_bytes=1_000_000))


def test_a_zip_that_lies_about_sizes_is_bounded_or_damaged_but_never_believed(tmp_path):
    path = zip_of(tmp_path / "d.zip", {"votes.csv": b"0" * 5_000_000})
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = (100).to_bytes(4, "little")  # says 100 bytes unpacked
    path.write_bytes(bytes(data))

    with pytest.raises(DatasetError):
        read(path, limits=Limits(max_bytes=1_000_000))


def test_the_limit_of_bytes_holds_for_all_files_together_and_for_each_pass_anew(tmp_path):
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "flags.csv").write_text("response,rater\nr1,anna\n")
    limits = Limits(max_bytes=len(VOTES) + 5)

    with open_material(tmp_path, limits=limits) as material:
        assert len(list(material.records("votes"))) == len(list(material.records("votes"))) == 2
        with pytest.raises(DatasetError, match="once unpacked"):
            list(material.records("flags"))


def test_too_many_rows_stop_the_import(tmp_path):
    (tmp_path / "votes.csv").write_text(VOTES)

    with pytest.raises(DatasetError, match="more than 1 rows"):
        read(tmp_path, limits=Limits(max_rows=1))


def test_a_damaged_gzip_and_a_file_that_is_no_zip_are_dataset_errors(tmp_path):
    cut = tmp_path / "votes.csv.gz"
    cut.write_bytes(gzip.compress(VOTES.encode() * 50)[:-20])
    fake = tmp_path / "votes.zip"
    fake.write_text(VOTES)

    with pytest.raises(DatasetError, match="damaged"):
        read(cut)
    with pytest.raises(DatasetError, match="cannot be read as a zip"):
        read(fake)


def test_a_missing_path_and_an_empty_folder_say_so(tmp_path):
    with pytest.raises(DatasetError, match="no file or folder"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(DatasetError, match="no files"):
        read(tmp_path)


def test_a_link_out_of_a_folder_is_refused_and_one_inside_is_read(tmp_path):
    outside = tmp_path / "outside.csv"
    outside.write_text(VOTES)
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "real.txt").write_text(VOTES)
    (folder / "votes.csv").symlink_to(folder / "real.txt")
    assert len(read(folder)) == 2

    (folder / "flags.csv").symlink_to(outside)

    with pytest.raises(DatasetError, match="a link to a file outside the folder"):
        read(folder)


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_text(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbf" + VOTES.replace("\n", "\r\n").encode())

    assert [(vote.response, vote.answer) for vote in read(path)] == [("r1", "yes"), ("r1", "no")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_with_its_mark_is_read_as_it_is(tmp_path, encoding):
    path = tmp_path / "votes.csv"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path.write_bytes((mark + VOTES).encode(encoding))

    assert [(vote.response, vote.answer) for vote in read(path)] == [("r1", "yes"), ("r1", "no")]


def test_bytes_that_are_no_utf_16_are_named(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(VOTES.encode("utf-16") + b"a")  # half a character

    with pytest.raises(DatasetError, match=r"votes.csv: found bytes that are not UTF-16 text"):
        read(path)


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (b"r1,b\xffn,sensible,no\n", "byte 0xff at byte 5 of the line"),
        (b"r1,b\0n,sensible,no\n", "a NUL character"),
        (b"r1,\xed\xa0\x80,sensible,no\n", "byte 0xed at byte 4 of the line"),  # a surrogate
        (b"r1," + b"x" * 300 + b",sensible,no\n", "a line of more than 200 bytes"),
    ],
)
def test_a_line_that_is_no_text_is_a_problem_and_reading_goes_on(tmp_path, bad, found):
    path = tmp_path / "votes.csv"
    path.write_bytes(VOTES.encode() + bad + b"r2,anna,sensible,yes\n")

    *good, problem, last = read(path, limits=Limits(max_line_bytes=200))

    assert len(good) == 2
    assert isinstance(problem, Problem)
    assert problem.where == ("votes.csv", 4)
    assert found in problem.found
    assert last.response == "r2"


def test_lines_keep_their_numbers_after_a_line_too_long(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a\n" + b"x" * 100 + b"\nb")

    source = Source(path, Limits(max_line_bytes=10))

    assert [(line.number, line.text, bool(line.problem)) for line in source.lines("lines.txt")] == [
        (1, "a\n", False),
        (2, "\n", True),
        (3, "b", False),
    ]


def test_nothing_is_written_to_disk(tmp_path, monkeypatch):
    path = zip_of(tmp_path / "d.zip", {"votes.csv": VOTES})
    monkeypatch.chdir(tmp_path)

    read(path)

    assert [entry.name for entry in Path(tmp_path).iterdir()] == ["d.zip"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"a,b\n" * 100_000),  # a reader stops in the middle of it
        ("t.csv.gz", b"\x1f\x8b no gzip"),
        ("t.csv.gz", gzip.compress(b"a,b\n" * 1_000, mtime=0)[:40]),
    ],
)
def test_no_file_stays_open_whatever_its_reader_did(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    source = Source(path)
    lines = source.lines(name)
    with suppress(DatasetError):
        next(lines)
    with suppress(DatasetError):
        source.head(name, 1_000)
    whole = source.whole_file(name)

    source.close()

    assert whole.closed
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert path.resolve() not in [Path(os.readlink(link)) for link in links]
