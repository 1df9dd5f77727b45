"""Numbers: runs of auto-metrics and the scores they gave."""

from django.db import models

from annotation.models import Target
from generation.models import Dataset


class MetricRun(models.Model):
    """One execution of one auto-metric over a dataset, here or (imported) elsewhere.

    `signature` names every choice that changes the number; imported runs carry the file's.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="metric_runs")
    metric = models.CharField(max_length=100)
    signature = models.CharField(max_length=500, blank=True)
    is_imported = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["metric", "signature"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "metric", "signature"],
                condition=models.Q(is_imported=True),
                name="imported_run_once_per_dataset",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.signature}".strip()


class AutoScore(models.Model):
    """What one run said about one target."""

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="scores")
    target = models.ForeignKey(Target, models.CASCADE, related_name="scores")
    score = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "target"], name="score_once_per_run"),
        ]

    def __str__(self) -> str:
        return f"{self.score:.3f}"
