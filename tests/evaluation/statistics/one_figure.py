"""The interval of one figure, for tests; reports make the intervals of all figures at once."""

from evaluation.statistics.intervals import Statistic, bootstrap_intervals


def bootstrap_interval(
    statistics, dialogs, n_dialogs, measure, *, seed, n_resamples=1000, level=0.95
):
    figure = Statistic(statistics, dialogs, measure)
    [interval] = bootstrap_intervals(
        [figure], n_dialogs, seed=seed, n_resamples=n_resamples, level=level
    )
    return interval
