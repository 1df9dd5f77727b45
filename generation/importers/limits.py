"""The limits of the size of one import."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds of one import. Bytes are counted unpacked, while reading, over all its files."""

    max_bytes: int = 8 * 1024**3
    max_line_bytes: int = 8 * 1024**2  # also for one CSV row over several lines
    max_nesting: int = 32
    max_rows: int = 50_000_000
    max_members: int = 1000
    max_whole_json_bytes: int = 16 * 1024**2  # for formats that must be read at once
    max_rows_in_memory: int = 100_000  # for formats whose published files have some thousands
    max_settings_bytes: int = 1024**2  # for study.json, scheme.json, dataset.json
    max_times_unpacked: int = 100  # compared to the stored bytes; published files have 3 to 10
    always_unpacked: int = 64 * 1024**2  # allowed however few bytes are stored
