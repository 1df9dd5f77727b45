"""How much one import may hold."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds of one import; bytes are counted unpacked, while reading, over all its files."""

    max_bytes: int = 8 * 1024**3
    max_line_bytes: int = 16 * 1024**2  # also of one CSV row over several lines
    max_nesting: int = 32
    max_rows: int = 50_000_000
    max_members: int = 1000
    max_whole_json_bytes: int = 64 * 1024**2  # for formats that must be read at once
