"""The progress of commands where there is no terminal: a line every 30 seconds."""

from generation.progress import ProgressLines


def test_a_line_comes_every_thirty_seconds_with_speed_and_what_is_left():
    lines: list[str] = []
    now = [1000.0]
    progress = ProgressLines("Asking for g", "calls", lines.append, lambda: now[0])

    for seconds, n_done, share in [
        (0, 100, 0.1),  # an earlier command made these
        (29, 110, 0.11),
        (30, 112, 0.112),
        (59, 124, 0.124),
        (60, 130, 0.13),
        (600, 1000, 1.0),
    ]:
        now[0] = 1000 + seconds
        progress.update(n_done, share)

    assert lines == [
        # 12 in 30 s are 24 a minute; 888 of 1,000 are left, at 0.4 a second: 2,220 s.
        "Asking for g: 112 calls (11%), 24.0 a minute, about 37 min left\n",
        # 30 in 60 s; 870 at 0.5 a second: 1,740 s.
        "Asking for g: 130 calls (13%), 30.0 a minute, about 29 min left\n",
        "Asking for g: 1,000 calls (100%), 90.0 a minute, about 1 s left\n",
    ]


def test_without_progress_what_is_left_is_not_known():
    lines: list[str] = []
    now = [0.0]
    progress = ProgressLines("Scoring", "pairs", lines.append, lambda: now[0])

    progress.update(0, 0.0)
    now[0] = 45.0
    progress.update(0, 0.0)

    assert lines == ["Scoring: 0 pairs (0%), 0.0 a minute, — left\n"]
