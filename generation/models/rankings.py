"""Rankings of passages for a dataset's examples, which were made by a retriever elsewhere."""

from django.db import models
from django.db.models import Q

from generation.limits import LONGEST_NAME
from generation.models.datasets import Dataset, Example, Passage


class Ranking(models.Model):
    """The results of one retriever for the examples of a dataset, under the name of its run."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="rankings")
    name = models.CharField(max_length=LONGEST_NAME)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="ranking_once_per_dataset"),
        ]

    def __str__(self) -> str:
        return self.name


class RankedPassage(models.Model):
    """A passage in a ranking for one example. A missing rank is of an unknown passage."""

    ranking = models.ForeignKey(Ranking, models.CASCADE, related_name="ranked")
    example = models.ForeignKey(Example, models.CASCADE, related_name="+")
    passage = models.ForeignKey(Passage, models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField()  # counts from 1, the best

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ranking", "example", "passage"], name="passage_once_in_ranking"
            ),
            models.UniqueConstraint(
                fields=["ranking", "example", "rank"], name="rank_once_in_ranking"
            ),
            models.CheckConstraint(condition=Q(rank__gte=1), name="rank_from_one"),
        ]

    def __str__(self) -> str:
        return f"rank {self.rank} of example {self.example_id}"
