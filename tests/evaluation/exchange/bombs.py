"""Small files that become very large in memory: bombs.

A bomb is a sound file in which random parts are made as large as fits: a list by repeated items, a
text, a value that holds very many others, a key, a cell. Some bombs are packed.
"""

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.evaluation.exchange.sound_files import NUMBER, SOUND, Sound

SMALL = 1024**2
UNPACKED = (*[SMALL] * 17, 4 * SMALL, 8 * SMALL, 60 * SMALL)  # bytes of an unpacked bomb


def write_bomb(folder: Path, format: str, random: Random) -> Path:
    """Write a bomb of at most 1 MB; return its path."""
    sound = random.choice(SOUND[format])
    for n_bytes in sorted({random.choice(UNPACKED), SMALL - 4096}, reverse=True):
        content = _bomb(sound, n_bytes, random)[:n_bytes]
        name, packed = _packed(sound.name, content, random, is_large=n_bytes >= SMALL)
        if len(packed) <= SMALL:
            break
    (folder / name).write_bytes(packed[:SMALL])
    return folder / name


def _packed(name: str, content: bytes, random: Random, *, is_large: bool) -> tuple[str, bytes]:
    how = random.choice(["zip", "gz"] if is_large else ["", "", "zip"])
    if how == "gz":
        return f"{name}.gz", gzip.compress(content, mtime=0)
    if how == "":
        return name, content
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        if name.startswith("votes") and random.random() < 0.5:
            archive.writestr("study.json", _large_value(random, len(content) // 2))
    return "bomb.zip", packed.getvalue()


def _bomb(sound: Sound, n_bytes: int, random: Random) -> bytes:
    if sound.kind == "nt":
        return _lines(_with_a_long_part(sound.content, n_bytes, random), n_bytes, random).encode()
    content = json.loads(json.dumps(sound.content))
    is_list = isinstance(content, list)
    is_many = is_list and random.random() < 0.7
    share = random.choice([2, 10, 1000]) if is_many else 1
    parts = _large_parts(content[0] if is_list else content, n_bytes * 9 // 10 // share, random)
    n_copied = n_bytes if is_many else 0
    if sound.kind in ("csv", "tsv"):
        return _table(content[0], sound.kind, parts, n_copied, random).encode()
    if sound.kind == "jsonl":
        line = _filled(json.dumps(content[0]), parts) + "\n"
        return _copies(line, n_copied, random).encode()
    if is_many:
        items = _copies(_filled(json.dumps(content[0]), parts) + ",", n_bytes, random)
        return f"[{items[:-1]}]".encode()
    return _copies(_filled(json.dumps(content), parts), 0, random).encode()


def _large_parts(tree: Any, n_bytes: int, random: Random) -> list[str]:
    """Put marks into a tree; return the large parts, as JSON, that belong in their places."""
    parts: list[str] = []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        holder, key = random.choice(list(_places(tree)))
        old, holder[key] = holder[key], _mark(len(parts))
        if _mark(0)[:-1] in json.dumps(old, ensure_ascii=False):
            holder[key] = old
            continue
        size = n_bytes // random.choice([2, 3, 4] if parts else [1, 2])
        parts.append(_large(old, size, random))
        if isinstance(holder, dict) and random.random() < 0.1:
            holder["k" * min(size, n_bytes // 2)] = holder.pop(key)
    return parts


def _mark(number: int) -> str:
    return f"§{number}"


def _filled(written: str, parts: list[str]) -> str:
    for number, part in enumerate(parts):
        written = written.replace(f'"\\u00a7{number}"', part)
    return written


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (holder, key) of every value in a tree."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def _large(old: Any, n_bytes: int, random: Random) -> str:
    """Return a large value, as JSON, that replaces `old`."""
    if isinstance(old, list) and old and random.random() < 0.6:
        return f"[{_copies(json.dumps(old)[1:-1] + ',', n_bytes, random)[:-1]}]"
    if isinstance(old, dict) and old and random.random() < 0.5:
        key, value = random.choice(list(old.items()))
        pair = f'"{key}@": {json.dumps(value)},'
        return f"{{{_copies(pair, n_bytes, random, is_numbered=True)[:-1]}}}"
    return _large_value(random, n_bytes)


def _large_value(random: Random, n_bytes: int) -> str:
    makers: list[Callable[[int], str]] = [
        lambda n: '"' + "x" * n + '"',
        lambda n: '"😀' + "x " * (n // 2) + '"',
        lambda n: '"' + "\\u00e9\\\\" * (n // 8) + '"',
        lambda n: "[" + "[]," * (n // 3) + "[]]",
        lambda n: "[" + "0," * (n // 2) + "0]",
        lambda n: "[" + "1.5e10," * (n // 7) + "0]",
        lambda n: "[" + '{"a":0},' * (n // 8) + "{}]",
        lambda n: "[" + '"ab",' * (n // 5) + '""]',
        lambda n: "{" + ",".join(f'"k{i}":[]' for i in range(n // 12)) + "}",
        lambda n: "[" + ",".join(["[" * 20 + "]" * 20] * (n // 41)) + "]",
        lambda n: "[" * (n // 2) + "]" * (n // 2),
        lambda n: "9" * min(n, 5000),
        lambda n: "[" + ",".join(f'"{i}"' for i in range(n // 9)) + "]",
    ]
    return random.choice(makers)(max(0, n_bytes - 2))


def _copies(pattern: str, n_bytes: int, random: Random, *, is_numbered: bool | None = None) -> str:
    """Return as many copies as fit (at least one), each with its own number, or all with 0."""
    n = max(1, n_bytes // (len(pattern) + 4))
    if is_numbered or (is_numbered is None and random.random() < 0.8):
        return "".join(pattern.replace(NUMBER, str(i)) for i in range(n))
    return pattern.replace(NUMBER, "0") * n


def _table(row: dict[str, Any], kind: str, parts: list[str], n_bytes: int, random: Random) -> str:
    mark = "\t" if kind == "tsv" else ","
    cells = [_cell(value, parts, kind) for value in row.values()]
    names = list(row)
    if random.random() < 0.15:
        n_more = random.choice([1000, 100_000, n_bytes // 8])
        names += [f"c{i}" for i in range(n_more)]
        cells += [random.choice(["", "x"])] * n_more
    line = mark.join(cells) + "\n"
    return mark.join(names) + "\n" + _copies(line, n_bytes, random)


def _cell(value: Any, parts: list[str], kind: str) -> str:
    written = _filled(json.dumps(value), parts)
    if written.startswith('"'):
        written = written[1:-1]
    return written.replace("\t", " ") if kind == "tsv" else '"' + written.replace('"', '""') + '"'


def _with_a_long_part(lines: list[str], n_bytes: int, random: Random) -> list[str]:
    chosen = random.sample(lines, random.randint(1, len(lines)))
    if random.random() < 0.5:
        longer = "x" * random.choice([10, 1000, 1900, n_bytes // 3])
        place = random.choice(["s@", "p@", "v@", "o@", "n@"])
        chosen = [line.replace(place, longer + place) for line in chosen]
    if random.random() < 0.3:  # all triples have one subject
        chosen = [line.replace("s@", "s") for line in chosen]
    return chosen


def _lines(lines: list[str], n_bytes: int, random: Random) -> str:
    return _copies("\n".join(lines) + "\n", n_bytes, random)


def sound_bytes(sound: Sound, n_rows: int = 3) -> bytes:
    """Return a small sound file."""
    random = Random(0)
    if sound.kind == "nt":
        return "".join(f"{line}\n" for line in sound.content).replace(NUMBER, "1").encode()
    if sound.kind in ("csv", "tsv"):
        mark = "\t" if sound.kind == "tsv" else ","
        cells = [_cell(value, [], sound.kind) for value in sound.content[0].values()]
        header = mark.join(sound.content[0]) + "\n"
        line = mark.join(cells) + "\n"
        return (header + "".join(line.replace(NUMBER, str(i)) for i in range(n_rows))).encode()
    if sound.kind == "jsonl":
        line = json.dumps(sound.content[0]) + "\n"
        return "".join(line.replace(NUMBER, str(i)) for i in range(n_rows)).encode()
    return _copies(json.dumps(sound.content), 0, random).encode()
