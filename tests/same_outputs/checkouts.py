"""Worktrees of two commits, and processes that run in them, each over its own data."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(__file__).resolve().parent
DATABASE = "attest.sqlite3"
SETTINGS_OF_OURS = ("ATTEST_", "DJANGO_", "CELERY_", "CACHE_", "DATABASE_", "PYTHON")


class Checkout(NamedTuple):
    """A worktree of a commit, with a folder for its data."""

    commit: str
    code: Path
    data: Path

    @property
    def database(self) -> Path:
        return self.data / DATABASE

    @property
    def collected(self) -> Path:
        return self.data / "collected"

    def start(self, module: str, *arguments: str, settings: str) -> subprocess.Popen[bytes]:
        """Start a module from this tool's copy; it runs the commit's code."""
        command = [sys.executable, "-m", f"same_outputs.{module}", *arguments]
        return subprocess.Popen(command, cwd=self.code, env=self._environment(settings))

    def migrate(self) -> None:
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        environment = self._environment("config.settings")
        subprocess.run(command, cwd=self.code, env=environment, check=True)

    def _environment(self, settings: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS_OF_OURS)}
        return kept | {
            "PYTHONPATH": str(self.code.parent / "tool"),
            "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "100",
            "ATTEST_DATA_DIR": str(self.data),
            "ATTEST_SPACY_MODEL": "",
            "ATTEST_LOG_LEVEL": "CRITICAL",  # refusals are expected
            "DATABASE_URL": f"sqlite:///{self.database}",
            "CACHE_URL": f"filecache://{self.data}/cache",
            "CELERY_BROKER_URL": "filesystem://",
            "DJANGO_DEBUG": "1",
            "DJANGO_SETTINGS_MODULE": settings,
        }


@contextmanager
def checkouts(*commits: str) -> Iterator[list[Checkout]]:
    """Make a worktree for each commit in a temporary folder; remove them at the end."""
    folder = Path(tempfile.mkdtemp(prefix="attest-same-outputs-"))
    # The collector is copied: it must come from neither commit, and must not change while it runs.
    shutil.copytree(TOOL, folder / "tool" / TOOL.name)
    made: list[Checkout] = []
    try:
        for place, commit in zip(("before", "after"), commits, strict=True):
            checkout = Checkout(commit, folder / place, folder / f"{place}-data")
            checkout.data.mkdir(mode=0o700)
            git("worktree", "add", "--quiet", "--detach", str(checkout.code), commit)
            made.append(checkout)
        yield made
    finally:
        for checkout in made:
            git("worktree", "remove", "--force", str(checkout.code))
        shutil.rmtree(folder)


def as_it_stands() -> str:
    """Return a commit of the working tree, including new files, that is on no branch."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git("read-tree", "HEAD", **index)
        git("add", "--all", **index)
        tree = git("write-tree", **index)
    if tree == git("rev-parse", "HEAD^{tree}"):
        return git("rev-parse", "HEAD")
    return git("commit-tree", tree, "-p", "HEAD", "-m", "The working tree as it stands")


def is_ancestor(commit: str, of: str) -> bool:
    command = ["git", "merge-base", "--is-ancestor", commit, of]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def git(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()
