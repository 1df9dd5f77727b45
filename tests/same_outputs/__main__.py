"""Compare the answers of two commits: pages, files, API answers and commands that only read.

One database is filled by the older code. Each commit gets a copy, migrates it, and answers from it
with a clock that stands still: an admin, a researcher, a rater and a visitor who is not signed in
open a few addresses of every kind, and every report, export and help text is printed. The answers
are then compared byte by byte. Exit status 1: there are differences that
tests/data/allowed_differences.toml does not list. An address 'only in one' mostly follows from a
page whose links differ.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from .checkouts import ROOT, Checkout, as_it_stands, checkouts, git, is_ancestor
from .collection import Collection
from .comparison import Allowed, Outcome, allowed_differences, compare

ALLOWED = ROOT / "tests" / "data" / "allowed_differences.toml"
MOST_PRINTED = 60  # differences, and likewise addresses only in one


def main() -> int:
    options = _options()
    before = git("rev-parse", f"{options.commit}^{{commit}}")
    after = git("rev-parse", f"{options.other}^{{commit}}") if options.other else as_it_stands()
    shared = Path(os.environ.get("ATTEST_SHARED", ROOT.parent / "shared")).resolve()
    has_published = options.only != "demo" and (shared / "data").is_dir()
    with checkouts(before, after) as (one, other):
        older, newer = (one, other) if is_ancestor(before, after) else (other, one)
        _fill(older, shared if has_published else None)
        shutil.copyfile(older.database, newer.database)
        _collect(one, other)
        answers, others = (Collection(each.collected) for each in (one, other))
        allowed = allowed_differences(ALLOWED)
        outcome = compare(answers, others, allowed, may_differ_in_words=options.words)
        faults = [address for address, answer in others.items() if answer.status >= 500]
        _print(outcome, len(answers), len(others), faults, options.most)
    return 0 if outcome.is_same else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.same_outputs", description=__doc__)
    parser.add_argument("commit", help="the one that says what is right")
    parser.add_argument("other", nargs="?", help="default: the working tree as it stands")
    parser.add_argument("--only", choices=["demo"], help="the demo's data alone; quicker")
    parser.add_argument(
        "--words", action="store_true", help="words may differ: compare numbers, keys and columns"
    )
    parser.add_argument(
        "--most", type=int, default=MOST_PRINTED, help="differences that are printed"
    )
    return parser.parse_args()


def _fill(older: Checkout, shared: Path | None) -> None:
    _say("Filling a database" + ("." if shared else " with the demo's data alone."))
    arguments = [str(older.data), *([str(shared)] if shared else [])]
    filling = older.start("building", *arguments, settings="config.settings")
    if filling.wait():
        raise SystemExit("The database could not be filled; the error stands above.")


def _collect(*both: Checkout) -> None:
    moment = datetime.now(UTC).isoformat()
    _say("Collecting answers of both commits.")
    running = []
    for checkout in both:
        checkout.migrate()
        arguments = (str(checkout.collected), moment)
        running.append(checkout.start("collecting", *arguments, settings="config.settings_test"))
    # Waits for both, also when the first has failed.
    statuses = [process.wait() for process in running]
    if any(statuses):
        raise SystemExit("Answers could not be collected; the error stands above.")


def _print(
    outcome: Outcome, n_before: int, n_after: int, faults: list[str], most: int = MOST_PRINTED
) -> None:
    for difference in outcome.different[:most]:
        _say(f"\n{difference.address}", *difference.lines)
    _say_left(len(outcome.different), most)
    _say_some("Only before:", outcome.only_before, most)
    _say_some("Only after:", outcome.only_after, most)
    _say_some("Errors of the server after:", faults, most)
    _say_unused(outcome.unused)
    n_allowed, n_different = len(outcome.allowed), len(outcome.different)
    _say(
        f"\n{n_before:,} addresses before, {n_after:,} after: {len(outcome.equal):,} equal, "
        f"{n_different:,} different, {len(outcome.only_before):,} only before, "
        f"{len(outcome.only_after):,} only after, {n_allowed:,} differences allowed; "
        f"{len(faults):,} errors of the server after."
    )


def _say_some(title: str, addresses: list[str], most: int) -> None:
    if addresses:
        _say(f"\n{title}", *addresses[:most])
        _say_left(len(addresses), most)


def _say_left(n: int, most: int) -> None:
    if n > most:
        _say(f"... and {n - most:,} more")


def _say_unused(unused: Iterable[Allowed]) -> None:
    for each in unused:
        _say(f"Allows nothing any more: {each.address!r} ({each.reason})")


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201 - for the terminal


if __name__ == "__main__":
    sys.exit(main())
