"""The files of a model: finding them, checking that they are whole, and identifying them.

Nothing in this module loads a model, so pages and services may call it.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from generation.backends.memory import in_gib
from generation.model_specs import BackendError, ModelSpec

_MODEL_FILES = [
    "config.json",
    "*token*",
    "vocab*",
    "merges.txt",
    "*.model",
    "*.safetensors",
    "generation_config.json",
    "chat_template*",
]
_IS_PATH = re.compile(r"[./~\\]|.*[/\\].*[/\\]|[A-Za-z]:")  # 'org/model' is a name on the hub
COMMIT = re.compile(r"[0-9a-f]{40}")
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ADAPTER = "adapter_config.json"
LARGEST_CONFIG = 1024**2  # bytes
LARGEST_INDEX = 64 * 1024**2
_LARGEST_HEADER = 100 * 1000**2  # bytes; the safetensors library has the same limit
_POINTER = b"version https://git-lfs.github.com/spec/"
_BYTES_OF = {"fp32": 4, "bf16": 2}
# What is said of a model whose files are there but do not work together.
NO_WORDS = "found a tokenizer that knows no words; expected its files beside the weights"
GIVES_NOTHING = "the model does not answer a test"
NO_CHAT = "found no chat template; expected a chat model. Ask this one in the form plain"


class ModelFiles(NamedTuple):
    """The folder of a model whose files are whole, with their revision and digests."""

    folder: Path
    revision: str  # the hub's commit, or a digest of the files
    files: dict[str, str]  # name → SHA-256, for the files that change a score


class Weights(NamedTuple):
    """The size of a model's weights, as the headers of its files report it."""

    n_parameters: int  # floating-point numbers, which are loaded in the precision that is asked for
    n_other_bytes: int  # integers and truth values, which keep their type

    def bytes_in(self, precision: str) -> int:
        """Return how many bytes of memory the weights take in a precision."""
        return self.n_parameters * _BYTES_OF[precision] + self.n_other_bytes


def fingerprint(location: str) -> str:
    """Return a digest that changes whenever a file of a folder changes; "" if there is no folder.

    The digest covers the names, sizes and modification times of the files.
    """
    folder = Path(os.path.expanduser(location))
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    except OSError:
        return ""
    return hashlib.sha256(repr(stats).encode()).hexdigest()


def model_files(spec: ModelSpec) -> ModelFiles:
    """Return the folder, revision and digests of a model, downloaded if it is a name on the hub.

    Raises:
        BackendError: the model is missing or not whole.
    """
    folder = folder_of(spec.location, spec.revision)
    files = hashes_of(folder)
    revision = folder.name if is_snapshot(folder) else _digest(files)
    return ModelFiles(folder, revision, files)


def folder_of(location: str, revision: str = "") -> Path:
    """Return the folder that holds a whole checkpoint, downloaded if it is a name on the hub.

    Args:
        revision: the commit of a name on the hub; "": today's. It means nothing for a folder.

    Raises:
        BackendError: there is no such folder, or files are missing or not whole.
    """
    folder = Path(os.path.expanduser(location))
    if not location:
        raise BackendError("Found no model; expected a folder, or a name on the hub like org/model")
    if not folder.exists() and is_hub_name(location):
        folder = _snapshot(location, revision)
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise BackendError(f"{location}: found {found}; expected a folder with config.json")
    if problem := what_is_wrong(folder):
        raise BackendError(f"{location}: {problem}")
    return folder


def is_hub_name(location: str) -> bool:
    """Return whether a location looks like a name on the hub, and not like a path."""
    return not _IS_PATH.match(location)


def commit_of(location: str) -> str:
    """Return today's commit of a name on the hub, after downloading its files; "" for a folder.

    Raises:
        BackendError: the model cannot be downloaded.
    """
    if not location or not is_hub_name(location) or Path(location).exists():
        return ""
    folder = _snapshot(location, "")
    return folder.name if is_snapshot(folder) else ""


def _snapshot(name: str, revision: str) -> Path:
    """Return the folder of a model of the hub; download only the files that are missing."""
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                name,
                revision=revision or None,
                allow_patterns=[*_MODEL_FILES, "*.json"],
                ignore_patterns="*/*",
            )
        )
    except Exception as exc:  # no network, no such name, gated, disk full: each has its own class
        at = f" at revision {revision}" if revision else ""
        raise BackendError(
            f"{name}: there is no such folder here, and the Hugging Face hub does not give it{at}: "
            f"{first_line(exc)}"
        ) from exc


def is_snapshot(folder: Path) -> bool:
    """Return whether a folder is the hub's cache of one commit, as its name shows."""
    return folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name) is not None


def is_chat_model(folder: Path) -> bool:
    """Return whether the tokenizer in a folder has a chat template."""
    if any(folder.glob("chat_template*")):
        return True
    with suppress(BackendError, OSError):
        settings = _read_json(folder / "tokenizer_config.json", LARGEST_INDEX)
        return bool(settings.get("chat_template"))
    return False


def digest_of(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with any file of a folder that changes a score."""
    return _digest(hashes_of(folder))


def hashes_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder that changes a score, by the file's name."""
    files = {path for pattern in _MODEL_FILES for path in folder.glob(pattern) if path.is_file()}
    hashes = {}
    for path in sorted(files):
        with path.open("rb") as file:
            hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes


def _digest(hashes: Mapping[str, str]) -> str:
    lines = "".join(f"{name} {digest}\n" for name, digest in hashes.items())
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def first_line(exc: Exception) -> str:
    """Return the first line of an exception's message; the name of its class if it has none."""
    lines = [line.strip() for line in str(exc).splitlines() if line.strip()]
    return lines[0] if lines else type(exc).__name__


# --- checks that files are whole ------------------------------------------------------------


def what_is_wrong(folder: Path) -> str:
    """Return in one line why a folder holds no whole model; "" if its files show no problem."""
    try:
        has_weights = (folder / WEIGHTS).is_file() or (folder / INDEX).is_file()
        if (folder / ADAPTER).is_file() and not has_weights:
            return f"found an adapter ({ADAPTER}) without its model; expected both merged"
        if not (folder / "config.json").is_file():
            return "found a folder without config.json; expected a checkpoint"
        if "quantization_config" in _read_json(folder / "config.json", LARGEST_CONFIG):
            return (
                "found weights in another precision than fp32, bf16 or fp16 (config.json has a "
                "quantization_config); expected the weights that they were made from"
            )
        weights_of(folder)
    except (BackendError, OSError) as exc:
        return first_line(exc)
    return ""


def check_memory(folder: Path, precision: str, location: str, free: int | None, of: str) -> None:
    """Refuse a model that does not fit into memory.

    Args:
        free: bytes; None: not known, and every model is accepted.
        of: the owner of that memory, in words: 'this machine'.

    Raises:
        BackendError: the model does not fit.
    """
    needed = weights_of(folder).bytes_in(precision)
    if free is not None and needed > free:
        raise BackendError(
            f"{location}: the model is too large for the memory of {of}. In {precision} it needs "
            f"about {in_gib(needed)}; {in_gib(free)} are free"
        )


def wrong_kind(config: Mapping[str, Any], endings: tuple[str, ...]) -> str:
    """Return what a config.json names in place of an architecture with one of these endings.

    The result is "" if it names such an architecture, or if there are no endings.
    """
    named = config.get("architectures")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if not endings or any(name.endswith(endings) for name in names):
        return ""
    return ", ".join(names) or "no architecture"


def config_of(folder: Path) -> dict[str, Any]:
    """Return the object in the config.json of a folder.

    Raises:
        BackendError: the file cannot be read as an object.
    """
    return _read_json(folder / "config.json", LARGEST_CONFIG)


def weights_of(folder: Path) -> Weights:
    """Return the size of the weights that the transformers library would load, unread.

    Raises:
        BackendError: the weights are missing, not stored as safetensors, or not whole.
    """
    headers = [_header(path) for path in _weight_files(folder)]
    n_parameters = n_other_bytes = 0
    for header in headers:
        for tensor in header.values():
            start, end = tensor["data_offsets"]
            if tensor["dtype"].startswith(("F", "BF")):
                n_parameters += math.prod(tensor["shape"])
            else:
                n_other_bytes += end - start
    return Weights(n_parameters, n_other_bytes)


def size_in_files(location: str, revision: str) -> int | None:
    """Return the number of parameters of a model whose files are here; None: they are not.

    Args:
        revision: the commit of a name on the hub. Without one, its files are not looked for.
    """
    if not Path(location).is_dir() and not COMMIT.fullmatch(revision):
        return None
    try:
        return weights_of(folder_of(location, revision)).n_parameters or None
    except (BackendError, OSError):
        return None


def _weight_files(folder: Path) -> list[Path]:
    """Return the files that hold a model's weights."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not (folder / INDEX).is_file():
        found = sorted(path.name for path in folder.glob("*.safetensors"))
        others = sorted(path.name for path in folder.glob("*.bin"))
        if found:
            raise BackendError(
                f"found weights in {', '.join(found[:3])}; expected {WEIGHTS} or {INDEX}"
            )
        there = ", ".join(others[:3]) or "no weights"
        raise BackendError(f"found {there}; expected weights as .safetensors")
    named = _read_json(folder / INDEX, LARGEST_INDEX).get("weight_map")
    names = sorted(set(map(str, named.values()))) if isinstance(named, dict) else []
    if not names:
        raise BackendError(f"{INDEX}: found no names of files; expected a weight_map")
    for name in names:
        if Path(name).name != name or not (folder / name).is_file():
            raise BackendError(f"found no {name}; expected every file that {INDEX} names")
    return [folder / name for name in names]


def _header(path: Path) -> dict[str, Any]:
    """Return the tensors of a safetensors file by name: type, shape and offsets."""
    n_bytes = path.stat().st_size
    with path.open("rb") as file:
        begin = file.read(8)
        n_header = int.from_bytes(begin, "little")
        if (begin + file.read(len(_POINTER) - 8)) == _POINTER:
            raise BackendError(
                f"{path.name}: found a git-lfs pointer of {n_bytes} bytes; expected the weights "
                "themselves"
            )
        file.seek(8)
        is_plausible = 8 + n_header <= n_bytes and n_header <= _LARGEST_HEADER
        text = file.read(n_header) if is_plausible else b""
    try:
        header = json.loads(text)
        header.pop("__metadata__", None)
        end = max((tensor["data_offsets"][1] for tensor in header.values()), default=0)
        for tensor in header.values():
            math.prod(tensor["shape"]), tensor["dtype"].startswith("F")
        expected = 8 + n_header + int(end)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as exc:
        raise BackendError(
            f"{path.name}: found {n_bytes:,} bytes without a readable safetensors header; expected "
            "a complete file"
        ) from exc
    if n_bytes != expected:
        raise BackendError(
            f"{path.name}: found {n_bytes:,} bytes; expected {expected:,}, as its header says"
        )
    return dict(header)


def _read_json(path: Path, most_bytes: int) -> dict[str, Any]:
    """Return the object that a file holds."""
    if path.stat().st_size > most_bytes:
        raise BackendError(
            f"{path.name}: found more than {most_bytes:,} bytes; expected a smaller file"
        )
    try:
        found = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as exc:
        is_deep = isinstance(exc, RecursionError)
        why = "brackets that are nested too deep" if is_deep else f"no JSON ({first_line(exc)})"
        raise BackendError(f"{path.name}: found {why}; expected an object") from exc
    if not isinstance(found, dict):
        raise BackendError(f"{path.name}: found {json.dumps(found)[:80]}; expected an object")
    return found
