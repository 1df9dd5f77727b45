"""The spending of a run: calls of its language model are counted, and refused over a budget."""

from collections.abc import Iterator, Sequence

from django.db.models import F, FloatField
from django.db.models.functions import Cast

from evaluation.models import MetricRun
from evaluation.runs.budget import BudgetSpent
from generation.backends.base import Completion, Decoding, LanguageModel, Prompt
from generation.batches import lots
from generation.model_specs import PRICED_TOKENS
from generation.text.tokens import count_tokens

TOGETHER = 8  # prompts that a run with a budget asks at once


class MeteredModel:
    """A language model that is asked for one run.

    Before prompts are asked, their tokens and the most that replies may have are added to what the
    run has spent, by one conditional update. So several workers together keep to the budget. When
    the replies are there, the tokens that the model has counted replace these numbers.
    """

    def __init__(self, itself: LanguageModel, run: MetricRun) -> None:
        self.itself, self._run = itself, run
        self.signature, self.revision = itself.signature, itself.revision
        self.files, self.device = itself.files, itself.device
        self._has_limit = bool(run.budget.keys() - {"price"})

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        """Yield a completion for each prompt, until the budget is spent.

        Raises:
            BudgetSpent: a further call would exceed the budget.
        """
        for some in lots(prompts, TOGETHER) if self._has_limit else [prompts]:
            if self._reserve(some, decoding):
                yield from self._completed(some, decoding)
                continue
            for prompt in some:
                if not self._reserve([prompt], decoding):
                    raise self._spent()
                yield from self._completed([prompt], decoding)

    def _completed(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        n_in = n_out = 0  # tokens beyond those that were reserved
        completions = self.itself.complete(prompts, decoding)
        for number, (prompt, completion) in enumerate(zip(prompts, completions, strict=True), 1):
            if completion.n_prompt_tokens:
                n_in += completion.n_prompt_tokens - _n_tokens(prompt)
            n_out += (completion.n_tokens or count_tokens(completion.whole)) - decoding.max_tokens
            if number == len(prompts):  # who asks may never come back for more
                MetricRun.objects.filter(pk=self._run.pk).update(
                    n_tokens_in=F("n_tokens_in") + n_in, n_tokens_out=F("n_tokens_out") + n_out
                )
            yield completion

    def _reserve(self, prompts: Sequence[Prompt], decoding: Decoding) -> bool:
        """Add some calls to what the run has spent; return whether its budget allows them."""
        n_in, n_out = sum(map(_n_tokens, prompts)), len(prompts) * decoding.max_tokens
        spent = {
            "n_calls": F("n_calls") + len(prompts),
            "n_tokens_in": F("n_tokens_in") + n_in,
            "n_tokens_out": F("n_tokens_out") + n_out,
        }
        budget, run = self._run.budget, MetricRun.objects.filter(pk=self._run.pk)
        if "most_calls" in budget:
            run = run.filter(n_calls__lte=budget["most_calls"] - len(prompts))
        if "most_tokens" in budget:
            run = run.alias(tokens=F("n_tokens_in") + F("n_tokens_out"))
            run = run.filter(tokens__lte=budget["most_tokens"] - n_in - n_out)
        if "most_cost" in budget:
            of_input, of_output = budget["price"]
            run = run.alias(
                would_cost=Cast(spent["n_tokens_in"], FloatField()) * of_input
                + Cast(spent["n_tokens_out"], FloatField()) * of_output
            )
            run = run.filter(would_cost__lte=budget["most_cost"] * PRICED_TOKENS)
        return bool(run.update(**spent))

    def _spent(self) -> BudgetSpent:
        return BudgetSpent(
            "The budget of this run is spent: the next call would exceed it. The scores are kept. "
            "Request the run again with a larger budget to go on"
        )


def _n_tokens(prompt: Prompt) -> int:
    return count_tokens(prompt.system) + count_tokens(prompt.text)
