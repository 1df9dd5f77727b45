"""Studies, their arms, guidelines and raters."""

import math
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Left

from accounts.models import Archivable
from annotation.scheme_languages import text_in
from annotation.study_file import PROBABILITIES
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Setup

# The facts about a draw, with the type that a value from a file must have.
DRAW_FACTS = {"n_sampled": int, "n_drawn_from": int, "draw": str, "drawn_by": str}


class Study(Archivable):
    """One study: examples × setups that are rated under one scheme.

    An imported study is closed from the start. `scheme` is a copy of the scheme's file, so that
    later changes of the file do not change what was asked.
    """

    class State(models.TextChoices):
        PLANNED = "planned"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class Mixing(models.TextChoices):
        """The random part of a study with several arms: the order of arms, or each rater's arm."""

        ORDER = "order", "all arms for everybody, in random order"
        RATERS = "raters", "each rater in one arm, at random"

    class MergedLayout(models.TextChoices):
        SIDE_BY_SIDE = "side_by_side", "side by side"
        IN_TURN = "in_turn", "one response in full, then the next"

    class ResponseOrder(models.TextChoices):
        """The order of the responses in a merged unit."""

        RANDOM = "random", "random for each rater"
        FIXED = "fixed", "by setup, the same for everybody"

    class Draw(models.TextChoices):
        """The way in which the dialogs of a sample are drawn."""

        UNIFORM = "uniform", "each with the same probability"
        STRATIFIED = "stratified", "from strata by a metric's score"
        ACTIVE = "active", "more of those about which a metric is in doubt"

    class TextFormat(models.TextChoices):
        """The format in which raters read responses, passages and earlier answers of the dialog."""

        PLAIN = "plain", "plain text"
        MARKDOWN = "markdown", "rendered Markdown"

    name = models.CharField(max_length=100, unique=True)
    slug = models.SlugField(max_length=110, unique=True)
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="studies")
    setups = models.ManyToManyField(Setup, related_name="studies", blank=True)
    scheme = models.JSONField()
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    is_imported = models.BooleanField(default=False)
    # It may be None in imported studies: there N is the number of votes that an item has.
    raters_per_unit = models.PositiveSmallIntegerField(null=True, blank=True)
    evidence_choice = models.CharField(
        max_length=10, choices=EvidenceChoice, default=EvidenceChoice.SHOWN
    )
    seed = models.PositiveIntegerField(default=13)
    introduction = models.TextField(blank=True)  # raters read it before they begin
    mixing = models.CharField(max_length=8, choices=Mixing, default=Mixing.ORDER)
    may_meet_both_arms = models.BooleanField(default=False)  # a rater may get a response in each
    merged_layout = models.CharField(
        max_length=12, choices=MergedLayout, default=MergedLayout.SIDE_BY_SIDE
    )
    response_order = models.CharField(
        max_length=8, choices=ResponseOrder, default=ResponseOrder.RANDOM
    )
    text_format = models.CharField(max_length=8, choices=TextFormat, default=TextFormat.PLAIN)
    lease_minutes = models.PositiveSmallIntegerField(default=30)
    stops_when_decided = models.BooleanField(default=False)
    # The share of examples that always get all raters. Agreement is computed from these alone.
    full_share = models.FloatField(default=0.25)
    # The number of dialogs to rate (pairs of each model, if citations are rated), drawn by the
    # seed; None: all of them.
    n_sampled = models.PositiveIntegerField(null=True, blank=True)
    # The number of dialogs that they were drawn from when the study opened. Each had the
    # probability n_sampled / n_drawn_from, if the draw is uniform. None: no dialogs were drawn.
    n_drawn_from = models.PositiveIntegerField(null=True, blank=True)
    # If the draw is not uniform, `drawn_dialogs` has the probability of each dialog, and `drawn_by`
    # the metric run whose scores made it.
    draw = models.CharField(max_length=10, choices=Draw, default=Draw.UNIFORM)
    drawn_by = models.TextField(blank=True, default="")
    # Gold items: responses with known answers, mixed in for every rater.
    n_gold_units = models.PositiveIntegerField(default=0)
    n_qualifying = models.PositiveSmallIntegerField(default=0)  # gold items to rate first
    gold_threshold = models.FloatField(null=True, blank=True)  # raters below it get no more units
    # The share of right answers that people who join by the link need in the qualification round.
    pass_mark = models.FloatField(default=0.7)
    most_units_per_rater = models.PositiveSmallIntegerField(null=True, blank=True)  # None: any
    # The estimated seconds of one judgement, as the mean over the units planned so far. None: the
    # study was opened before this was stored.
    seconds_per_unit = models.FloatField(null=True, blank=True)
    n_units_by_group = models.JSONField(default=list, blank=True)  # planned so far
    settings = models.JSONField(default=dict, blank=True)  # the other keys of study.json
    # How often its figures were looked at while it was rated, each time with more votes.
    n_looks = models.PositiveIntegerField(default=0)
    n_votes_at_look = models.PositiveIntegerField(default=0)  # the most votes that were seen
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(raters_per_unit__isnull=False) | Q(is_imported=True),
                name="study_rated_here_has_raters_per_unit",
            ),
            models.CheckConstraint(
                condition=Q(full_share__gte=0, full_share__lte=1),
                name="study_full_share_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(gold_threshold__isnull=True)
                | Q(gold_threshold__gte=0, gold_threshold__lte=1),
                name="study_gold_threshold_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(pass_mark__gte=0, pass_mark__lte=1), name="study_pass_mark_is_a_share"
            ),
            models.CheckConstraint(
                condition=Q(n_qualifying__lte=F("n_gold_units")),
                name="study_qualifies_by_gold_it_has",
            ),
            models.CheckConstraint(
                condition=Q(lease_minutes__gte=1), name="study_lease_of_a_minute_or_more"
            ),
            models.CheckConstraint(
                condition=Q(draw="uniform", drawn_by="")
                | (~Q(draw="uniform") & ~Q(drawn_by="") & Q(n_sampled__isnull=False)),
                name="study_drawn_by_scores_names_them",
            ),
            models.CheckConstraint(
                condition=Q(archived_at=None) | Q(state__in=("planned", "closed")),
                name="study_is_not_archived_while_raters_work",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scheme_title(self) -> str:
        """The title of its scheme in the usual language, or else the scheme's key."""
        return str(text_in(self.scheme.get("title")) or self.scheme["key"])

    @property
    def has_uniform_draw(self) -> bool:
        """Whether every dialog had the same probability to be in the study, as its file may say."""
        return self.draw == self.Draw.UNIFORM and not self.settings.get(PROBABILITIES)

    @property
    def draw_facts(self) -> dict[str, Any]:
        """The facts about its draw: `n_sampled`, `n_drawn_from`, `draw` and `drawn_by`.

        An imported study has them from its file; what the file does not say is None.
        """
        if not self.is_imported:
            return {name: getattr(self, name) for name in DRAW_FACTS}
        said = {name: self.settings.get(name) for name in DRAW_FACTS}
        return {
            name: said[name] if type(said[name]) is kind else None
            for name, kind in DRAW_FACTS.items()
        }

    @property
    def assumed_keys(self) -> list[str] | None:
        """The keys of the responses whose answers are assumed, as an imported file says."""
        named = self.settings.get("assumed")
        if not (self.is_imported and isinstance(named, list)):
            return None
        return [key for key in named if isinstance(key, str)]

    @property
    def is_without_implied(self) -> bool:
        """Whether imports add no noes to its votes, as a file or the person who imported said."""
        return self.settings.get("without_implied") is True

    def n_raters(self, n_there: int) -> int:
        """Return N for an item that `n_there` raters judged. A majority is more than half of N.

        N is the planned number. Imported items may have more raters, or no planned number; then N
        is `n_there`.
        """
        return max(self.raters_per_unit or 0, n_there)

    def fair_share(self, n_units: int, n_raters: int) -> int:
        """Return how many of a group's units each of its `n_raters` rates, if they share evenly."""
        share = math.ceil(n_units * (self.raters_per_unit or 0) / max(1, n_raters))
        return min(share, n_units)

    @property
    def hours_per_unit(self) -> float | None:
        """The estimated hours of one judgement; None if they are not known."""
        return None if self.seconds_per_unit is None else self.seconds_per_unit / 3600

    @property
    def is_running(self) -> bool:
        """Whether raters may submit and change votes: the study was opened and is not closed."""
        return self.state in (self.State.OPEN, self.State.PAUSED)

    @property
    def is_split_into_groups(self) -> bool:
        """Whether raters are in groups, so that no rater meets a response in two of the arms."""
        return self.n_groups > 1

    @property
    def n_groups(self) -> int:
        """The number of groups of raters: one for each arm.

        If raters may judge a response alone and merged, the merged arm needs no group of its own.
        The two separate arms always have different raters.
        """
        kinds = {arm.kind for arm in self.arms.all()}
        if self.may_meet_both_arms:
            kinds -= {Arm.Kind.MERGED}
        return max(1, len(kinds))


class DrawnDialog(models.Model):
    """A dialog that a study could draw by a metric's scores, and its probability to be drawn."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="drawn_dialogs")
    dialog = models.CharField(max_length=200)
    probability = models.FloatField()
    is_drawn = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "dialog"], name="drawn_dialog_once_per_study"),
            models.CheckConstraint(
                condition=Q(probability__gt=0, probability__lte=1),
                name="drawn_dialog_probability_above_0",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dialog}: {self.probability:.3g}"


class Arm(models.Model):
    """One way of showing responses in a study: each one alone, or all of an example together.

    The second separate arm is a replicate: other raters judge the same responses, each one alone.
    So the effect of merging can be told from the noise between two sets of raters.
    """

    class Kind(models.TextChoices):
        """The kinds of arms, in the order in which they are shown everywhere."""

        SEPARATE = "separate"
        SEPARATE_2 = "separate_2", "Second separate"
        MERGED = "merged"

    study = models.ForeignKey(Study, models.CASCADE, related_name="arms")
    kind = models.CharField(max_length=10, choices=Kind)
    n_units = models.PositiveIntegerField(default=0)  # planned so far

    class Meta:
        # In the order of `Kind`: the s of both separate arms comes before the m of merged.
        ordering = [Left("kind", 1).desc(), "kind"]
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="arm_once_per_study")]

    def __str__(self) -> str:
        return arm_name(self.kind)


def arm_name(kind: str) -> str:
    """Return the name of a kind of arm in a sentence: 'second separate' for separate_2.

    What is no kind of arm is returned as it is.
    """
    return str(dict(Arm.Kind.choices).get(kind, kind)).lower()


class Guideline(models.Model):
    """One version of a study's guidelines. Each vote keeps the version that was in force."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="guideline_version_once"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class Rater(models.Model):
    """One person in one study. Raters of imported votes have a code and no account."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="raters")
    code = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    # With several arms, the group decides which examples the rater meets in which arm (see
    # `planning.group_of`).
    group = models.PositiveSmallIntegerField(default=0)
    is_excluded = models.BooleanField(default=False)  # no figure counts their votes, no more units
    # Why, as a person wrote it or the gold threshold gave it. It is empty for raters of files that
    # give no reason, and for raters who were excluded before reasons were asked for.
    excluded_reason = models.TextField(blank=True, default="")
    taken_out_at = models.DateTimeField(null=True, blank=True)  # no more units after it
    is_simulated = models.BooleanField(default=False)
    gold_score = models.FloatField(null=True, blank=True)  # share of known answers they gave
    n_gold = models.PositiveIntegerField(default=0)  # gold units submitted, also flagged ones
    # When and from where they joined by the study's link, the latter as hashes (see `origins`).
    joined_at = models.DateTimeField(null=True, blank=True)
    browser = models.CharField(max_length=64, blank=True)
    network = models.CharField(max_length=64, blank=True)
    # Whether a researcher has let one more person join in this rater's browser.
    lets_one_more_join = models.BooleanField(default=False)
    is_in_qualification = models.BooleanField(default=False)  # no units before the round is passed
    has_finished = models.BooleanField(default=False)  # their visit has ended: no more units
    # The version of the guidelines that they began with, or confirmed last. None: they have not
    # asked for a unit yet.
    read_guideline = models.ForeignKey(
        Guideline, models.RESTRICT, null=True, blank=True, related_name="+"
    )

    TAKES_PART = Q(is_excluded=False, taken_out_at=None)  # neither excluded nor taken out

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="rater_code_once_per_study"),
            models.UniqueConstraint(
                fields=["study", "user"],
                condition=Q(user__isnull=False),
                name="rater_once_per_study",
            ),
            models.CheckConstraint(
                condition=Q(is_excluded=True) | Q(excluded_reason=""),
                name="rater_reason_only_if_excluded",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def must_qualify(self) -> bool:
        """Whether this rater has to pass the qualification round before the first unit."""
        return self.is_in_qualification and self.taken_out_at is None

    @property
    def gets_units(self) -> bool:
        """Whether this rater gets further units while the study hands out units."""
        is_at_work = self.taken_out_at is None and not self.has_finished
        is_let_in = not (self.is_in_qualification or self.is_excluded)
        return is_at_work and is_let_in and not self.is_under_threshold

    def has_to_read(self, version: int) -> bool:
        """Return whether this version of the guidelines is newer than what this rater has read."""
        return self.read_guideline is not None and self.read_guideline.version < version

    @property
    def may_vote(self) -> bool:
        """Whether this rater may submit and change votes: in a running study, unless taken out."""
        return self.study.is_running and self.taken_out_at is None

    @property
    def is_under_threshold(self) -> bool:
        """Whether this rater has given too few known answers to get further units."""
        threshold = self.study.gold_threshold
        if threshold is None or self.gold_score is None:
            return False
        return self.n_gold >= max(1, self.study.n_qualifying) and self.gold_score < threshold
