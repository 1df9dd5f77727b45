"""Prompts that are stored in files, each with its source."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "prompt_files"


@cache
def prompt_text(name: str) -> str:
    """Return the prompt in a file, without the lines at its top that begin with '#' (its source).

    White space around it is removed; line breaks inside it stay.

    Args:
        name: the name of a file in `prompt_files`, without '.txt'.

    Raises:
        FileNotFoundError: there is no such file.
    """
    lines = (_FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    while lines and lines[0].startswith("# "):
        del lines[0]
    return "\n".join(lines).strip()
