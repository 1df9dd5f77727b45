"""The memory that a process may still take on this machine."""

from pathlib import Path

GIB = 1024**3
_LEAST = 1 << 60  # bytes; a limit above this means that there is none


def free_memory(root: Path = Path("/")) -> int | None:
    """Return how many bytes this machine or its control group has left; None: not known.

    Args:
        root: the root of the file system in which Linux reports its memory.
    """
    left = [bytes_left for bytes_left in (_of_machine(root), _of_group(root)) if bytes_left]
    return min(left, default=None)


def in_gib(n_bytes: float) -> str:
    """Return a number of bytes in GiB, for people."""
    return f"{n_bytes / GIB:,.1f} GiB"


def _of_machine(root: Path) -> int | None:
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


def _of_group(root: Path) -> int | None:
    """Return how many bytes the tightest of the control groups around this process has left."""
    groups = root / "sys/fs/cgroup"
    left = [_left(groups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes")]
    try:
        entries = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        entries = []
    own = next((entry[3:] for entry in entries if entry.startswith("0::")), "/")
    folder = groups / own.strip("/")
    for each in (folder, *folder.parents):
        if each.is_relative_to(groups):  # in a container, its own group is at the top
            left.append(_left(each, "memory.max", "memory.current"))
    return min((each for each in left if each is not None), default=None)


def _left(group: Path, limit_file: str, used_file: str) -> int | None:
    """Return how many bytes of a group's limit are left, at least 1; None: no limit is known.

    Cached files do not count as used, because that memory is given back on demand.
    """
    try:
        limit, used = (group / limit_file).read_text(), (group / used_file).read_text()
        stat = (group / "memory.stat").read_text().split()
    except OSError:
        return None
    if not limit.strip().isdigit() or int(limit) > _LEAST:
        return None
    amounts = dict(zip(stat[::2], stat[1::2], strict=False))
    cached = int(amounts.get("total_inactive_file", amounts.get("inactive_file", 0)))
    return max(1, int(limit) - int(used) + cached)
