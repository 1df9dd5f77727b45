"""Where the files of a model are, whether they are whole, and what they are."""

import hashlib
import os
import re
from pathlib import Path

from generation.backends.base import BackendError

_MODEL_FILES = ["config.json", "*token*", "vocab*", "merges.txt", "*.model", "*.safetensors"]
_IS_PATH = re.compile(r"[./~\\]|.*[/\\].*[/\\]|[A-Za-z]:")  # 'org/model' is a name on the hub


def fingerprint(location: str) -> str:
    """Return what changes whenever a file of a folder does; "" for what is no folder here."""
    folder = Path(os.path.expanduser(location))
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    except OSError:
        return ""
    return hashlib.sha256(repr(stats).encode()).hexdigest()


def folder_of(location: str) -> Path:
    """Return the folder that holds a checkpoint, downloaded if it is a name on the hub."""
    folder = Path(os.path.expanduser(location))
    if not location:
        raise BackendError("no model: expected a folder, or a name on the hub like org/model")
    if not folder.exists() and not _IS_PATH.match(location):
        folder = _snapshot(location)
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        raise BackendError(f"{location}: {found}, expected a folder with config.json")
    if not (folder / "config.json").is_file():
        raise BackendError(f"{location}: a folder without config.json, expected a checkpoint")
    if not any(folder.glob("*.safetensors")):
        raise BackendError(f"{location}: no weights as .safetensors, the only ones that are read")
    return folder


def _snapshot(name: str) -> Path:
    """Return the folder of a model of the hub; only what is missing is downloaded."""
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(name, allow_patterns=[*_MODEL_FILES, "*.json"], ignore_patterns="*/*")
        )
    except Exception as exc:  # no network, no such name, gated, disk full: each has a class
        raise BackendError(
            f"{name}: no such folder here, and not to be had from the Hugging Face hub: "
            f"{first_line(exc)}"
        ) from exc


def is_snapshot(folder: Path) -> bool:
    """Return whether a folder is the hub's cache of one commit, and so called."""
    return (
        folder.parent.name == "snapshots" and re.fullmatch("[0-9a-f]{40}", folder.name) is not None
    )


def digest_of(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with whatever in a folder changes a score."""
    files = {path for pattern in _MODEL_FILES for path in folder.glob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as file:
            digest.update(
                f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
            )
    return digest.hexdigest()[:16]


def first_line(exc: Exception) -> str:
    """Return the first line of what an exception says."""
    lines = [line.strip() for line in str(exc).splitlines() if line.strip()]
    return lines[0] if lines else type(exc).__name__
