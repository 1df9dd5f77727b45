"""Knowledge graphs: entities, triples, and the questions asked about them (KaLMA, 2, 3)."""

from django.db import models
from django.db.models import Q

from generation.models.datasets import Dataset, Example


class Entity(models.Model):
    """One node of a dataset's knowledge graph; a document node carries a text."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="entities")
    qid = models.CharField(max_length=100)
    label = models.CharField(max_length=500)
    type = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)
    digest = models.CharField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "qid"], name="entity_once_per_dataset"),
        ]
        indexes = [models.Index(fields=["dataset", "label"], name="entity_by_label")]

    def __str__(self) -> str:
        return f"{self.label} ({self.qid})"


class Alias(models.Model):
    """Another name of an entity."""

    entity = models.ForeignKey(Entity, models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=500)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["entity", "name"], name="alias_once_per_entity"),
        ]
        indexes = [models.Index(fields=["name"], name="alias_by_name")]

    def __str__(self) -> str:
        return self.name


class Triple(models.Model):
    """One edge: subject, relation and value. `value_qid` is set if the value is an entity.

    Values may be long texts, so no constraint covers them. An entity's triples are stored together
    with the entity, in the file's order.
    """

    subject = models.ForeignKey(Entity, models.CASCADE, related_name="triples")
    position = models.PositiveIntegerField()
    relation = models.CharField(max_length=300)
    value = models.TextField()
    value_qid = models.CharField(max_length=100, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["subject", "position"], name="triple_position_once"),
        ]

    def __str__(self) -> str:
        return f"{self.relation}: {self.value[:80]}"


class KGQuestionQuerySet(models.QuerySet["KGQuestion"]):
    """Questions, selected by whether figures are about them."""

    def of_benchmark(self) -> "KGQuestionQuerySet":
        """Return the questions that are no ad-hoc questions."""
        return self.filter(example__is_ad_hoc=False)


class KGQuestion(models.Model):
    """The facts about a knowledge-graph question beside its example: gold entities, minimum set."""

    example = models.OneToOneField(Example, models.CASCADE, related_name="kg_question")
    is_minimum_known = models.BooleanField()
    # The set was drawn at random from the graph, to try experiments. It is not real knowledge.
    is_minimum_made_up = models.BooleanField(default=False)
    is_retrieved_known = models.BooleanField()

    objects = KGQuestionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_minimum_made_up=False) | Q(is_minimum_known=True),
                name="kg_question_made_up_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"knowledge-graph question {self.example_id}"


class QuestionEntity(models.Model):
    """An entity that is gold for a question, or was retrieved for it."""

    question = models.ForeignKey(KGQuestion, models.CASCADE, related_name="entities")
    qid = models.CharField(max_length=100)  # a retrieved one may be missing from the graph
    position = models.PositiveIntegerField()
    is_retrieved = models.BooleanField()  # False: gold

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["question", "is_retrieved", "position"], name="question_entity_once"
            ),
        ]

    def __str__(self) -> str:
        return self.qid


class MinimumTriple(models.Model):
    """One member of a question's minimum knowledge set, with the round that added it."""

    question = models.ForeignKey(KGQuestion, models.CASCADE, related_name="minimum")
    position = models.PositiveIntegerField()
    qid = models.CharField(max_length=100)
    relation = models.CharField(max_length=300)
    value = models.TextField()
    round = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["question", "position"], name="minimum_position_once"),
        ]

    def __str__(self) -> str:
        return f"{self.qid}, {self.relation}: {self.value[:80]}"
