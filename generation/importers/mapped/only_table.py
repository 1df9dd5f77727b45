"""The only table of a source: its only data file, a dataset's folder, or made by a reader."""

from functools import partial

from generation.importers.errors import DatasetError, excerpt
from generation.importers.mapped.arrow_files import ARROW_SUFFIX, arrow_rows
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers import ROW_READERS
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.table_files import TableFile, table_in
from generation.importers.mapped.votes_in_cells import with_opened_cells
from generation.importers.sources import Source

_FOLDER = ("dataset_info.json", "state.json")  # files of a saved Hugging Face dataset


def open_table(source: Source, mapping: ColumnMapping | None = None) -> TableFile | None:
    """Return the only table, read by a mapping or as it looks. None: there is none.

    Raises:
        PlaceError: the mapping names a sheet or a header line that is not there.
        DatasetError: it names one, and the file is of a kind that has none.
    """
    if mapping is not None and mapping.reader:
        return _by_a_reader(source, mapping)
    table = _lone_table(source, mapping)
    if table and mapping:
        if mapping.sheet and not (table.place and table.place.sheet):
            expected = f"an Excel workbook, as a sheet {excerpt(mapping.sheet)} is chosen"
            raise DatasetError(table.name, table.kind, expected)
        if mapping.header_line and not table.place:
            expected = f"a workbook or CSV, as line {mapping.header_line:,} is chosen as the header"
            raise DatasetError(table.name, table.kind, expected)
    return with_opened_cells(table, mapping) if table else None


def _lone_table(source: Source, mapping: ColumnMapping | None) -> TableFile | None:
    arrow = tuple(name for name in source.sizes if name.endswith(ARROW_SUFFIX))
    if arrow and any(name in source.sizes for name in _FOLDER):
        kind = "a Hugging Face dataset"
        return TableFile(arrow[0], kind, arrow, partial(arrow_rows, source, arrow))
    name = source.only_data_file()
    return None if name is None else table_in(source, name, mapping)


def _by_a_reader(source: Source, mapping: ColumnMapping) -> TableFile | None:
    reader = ROW_READERS.get(mapping.reader)
    names = reader.files(source) if reader else ()
    if reader is None or not names:
        return None
    left_out: LeftOut = {}
    rows = partial(reader.rows, source, names, left_out)
    kind = f"{'a file' if len(names) == 1 else 'files'} of {mapping.title or mapping.reader}"
    return TableFile(names[0], kind, names, rows, left_out=left_out)
