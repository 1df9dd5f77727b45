"""Readers of the formats that can be imported: our interchange format and published files.

A new format is one module with `recognises` and a `Material`, and one line in `READERS`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from generation.importers import (
    ais,
    begin,
    biokalma,
    interchange,
    mtrag,
    ntriples,
    qrecc,
    trec_run,
    treccast,
    triples,
)
from generation.importers.encodings import ENCODINGS, UTF_8
from generation.importers.errors import DatasetError
from generation.importers.file_head import beginning_trouble
from generation.importers.limits import Limits
from generation.importers.mapped import material as mapped
from generation.importers.mapped.mapping import ColumnMapping, encoding_of, read_mapping
from generation.importers.mapped.proposal import UnmappedError, look_at
from generation.importers.mapped.roles import expected_columns
from generation.importers.material import KINDS, Material
from generation.importers.sources import Source

__all__ = [
    "ENCODINGS",
    "KINDS",
    "READERS",
    "UTF_8",
    "ColumnMapping",
    "DatasetError",
    "Limits",
    "Material",
    "UnmappedError",
    "mapping_in",
    "open_material",
    "recognise",
]


class Reader(NamedTuple):
    """The functions that recognise a format by its content and that read it."""

    recognises: Callable[[Source], bool]
    open: Callable[[Source], Material]


GRAPHS = ("ntriples", "triples")  # formats of any graph; the other formats are of published files
RUNS = ("trec-run",)
ONLY_ASKED_FOR = ("qrecc-as-asked",)  # another way to read a format that is recognised
# They are asked in this order: published formats are the narrower ones.
READERS: dict[str, Reader] = {
    "mtrag": Reader(mtrag.recognises, mtrag.MtragMaterial),
    "ais": Reader(ais.recognises, ais.AisMaterial),
    "begin": Reader(begin.recognises, begin.BeginMaterial),
    "treccast": Reader(treccast.recognises, treccast.TrecCastMaterial),
    "biokalma": Reader(biokalma.recognises, biokalma.BioKalmaMaterial),
    "ntriples": Reader(ntriples.recognises, ntriples.NTriplesMaterial),
    "triples": Reader(triples.recognises, triples.TriplesMaterial),
    "qrecc": Reader(qrecc.recognises, qrecc.QreccMaterial),
    "qrecc-as-asked": Reader(qrecc.recognises, qrecc.QreccAsAskedMaterial),
    "trec-run": Reader(trec_run.recognises, trec_run.TrecRunMaterial),
    "interchange": Reader(interchange.recognises, interchange.InterchangeMaterial),
    "table": Reader(mapped.recognises, mapped.MappedMaterial),
}


def recognise(path: Path, limits: Limits | None = None, encoding: str = UTF_8) -> str:
    """Return the format of a folder, zip or file, judged by its content.

    Raises:
        DatasetError: there is nothing, or no reader knows it.
    """
    source = Source(path, limits, encoding)
    try:
        return _format_of(source)
    finally:
        source.close()


def open_material(
    path: Path,
    format: str | None = None,
    limits: Limits | None = None,
    encoding: str = UTF_8,
    mapping: ColumnMapping | None = None,
    folder: str = "",
) -> Material:
    """Return the content of `path`, ready to be read. Use it as a context manager.

    Args:
        encoding: the encoding of its text, one of `ENCODINGS`.
        mapping: the mapping of the columns of a table.
        folder: the folder of a zip that is read; "": its top.

    Raises:
        UnmappedError: it is a table, and its columns with questions and responses are not known.
        DatasetError: there is nothing, the format is unknown, or it is not what `format` says.
    """
    if format is not None and format not in READERS:
        raise DatasetError("format", repr(format), f"one of {', '.join(READERS)}")
    source = Source(path, limits, encoding_of(mapping, encoding), folder)
    try:
        if mapping is not None:
            material: Material = mapped.MappedMaterial(source, mapping)
        else:
            material = READERS[format or _format_of(source)].open(source)
    except BaseException:
        source.close()
        raise
    source.bytes_read = 0  # bytes that were read to recognise it are no progress
    return material


def mapping_in(path: Path) -> ColumnMapping:
    """Return the mapping in a TOML file.

    Raises:
        DatasetError: there is no such file, or no mapping in it.
    """
    try:
        return read_mapping(path.read_text("utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise DatasetError(
            str(path), f"a file that cannot be read ({reason})", "a mapping as TOML, in UTF-8"
        ) from error


def _format_of(source: Source) -> str:
    for name, reader in READERS.items():
        if name not in ONLY_ASKED_FOR and reader.recognises(source):
            return name
    names = list(source.sizes)
    if (trouble := beginning_trouble(source)) is not None:
        raise DatasetError(str(trouble))
    files = ", ".join(names[:10]) or "no files"
    others = ("interchange", "table", *GRAPHS, *RUNS, *ONLY_ASKED_FOR)
    published = ", ".join(name for name in READERS if name not in others)
    expected = (
        f"{expected_columns()}; or a published file ({published}); or a graph "
        f"({', '.join(GRAPHS)}); or a TREC run ({', '.join(RUNS)}); or "
        f"{interchange.expected_files()}"
    )
    if (look := look_at(source)) is not None:
        raise UnmappedError(look, expected)
    if names == [source.path.name]:
        is_empty = not source.sizes[names[0]]
        files = "an empty file" if is_empty else "a file that Attest does not recognise"
    raise DatasetError(source.path.name, files, expected)
