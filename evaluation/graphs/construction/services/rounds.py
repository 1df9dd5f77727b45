"""The rounds of a construction: a language model is asked about each entry, and answers are stored.

Round 1 of all entries comes first, then round 2, and so on. The simple style is last. Each
completion is stored as soon as it arrives.
"""

import math
import time
from collections.abc import Iterator, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef

from evaluation.jobs.services import JobError, JobHold
from generation.backends.base import Completion, Decoding, LanguageModel, Prompt
from generation.backends.registry import LANGUAGE_MODELS
from generation.backends.timeouts import waited_for
from generation.batches import lots
from generation.model_specs import ModelSpec
from generation.models import Construction, ConstructionCall, ConstructionEntry
from generation.models.constructions import SIMPLE_STYLE
from generation.seeded_random import random_key
from generation.services.construction_entries import (
    EntryRound,
    Said,
    State,
    fail_entry,
    graphs_of,
    minimum_of,
    store_call,
    usable_calls,
)
from generation.services.pace import calls_at_once, is_limited, reserve
from generation.text.constructed_questions import (
    UnreadableError,
    next_triple,
    simple_question,
    written,
)
from generation.text.construction_prompts import first_prompt, next_prompt, simple_prompt
from generation.text.tokens import count_tokens
from work.claims import LOOKS_EVERY_SECONDS, WorkStopped

MOST_ATTEMPTS = 3  # attempts at a round that cannot be read; an admin may ask for one more
STOPS = ("\nInstruction:",)  # A model that continues after its answer begins a new instruction.
MOST_SILENCES = 3  # consecutive prompts without any text before the model itself is checked
PROBE = Prompt("Who wrote Hamlet?")  # a question that no model refuses
READ_TOGETHER = 50  # entries that are read together, with their calls
PATIENCE_SECONDS = 8.0  # longest wait for a call; if it would be longer, other work has its turn


def write_questions(
    hold: JobHold, construction: Construction, spec: ModelSpec, model: LanguageModel
) -> None:
    """Ask for all remaining rounds, and store the completions.

    Raises:
        JobError: the model gives no text any more.
        BackendError: the model cannot be used any more.
        WorkStopped: this worker must not continue the job.
    """
    writer = _Writer(hold, construction, spec, model)
    for number in (*range(1, construction.parameters["n_rounds"] + 1), SIMPLE_STYLE):
        for _ in range(MOST_ATTEMPTS):
            for entries in _without(construction, number):
                writer.ask([asked for entry in entries if (asked := _asked(entry, number))])
            writer.settle()


def _without(construction: Construction, number: int) -> Iterator[list[ConstructionEntry]]:
    """Yield batches of the entries that have no readable call for a round yet."""
    there = ConstructionCall.objects.filter(entry=OuterRef("pk"), round=number, problem="")
    lacking = construction.entries.filter(~Exists(there), state=State.WRITING)
    for pks in lots(list(lacking.values_list("pk", flat=True)), READ_TOGETHER):
        some = construction.entries.filter(pk__in=pks).prefetch_related("calls")
        yield list(some.select_related("construction"))


def _asked(entry: ConstructionEntry, number: int) -> EntryRound | None:
    """Return what a model is asked in a round of an entry, or None if no new triple is left."""
    calls = usable_calls(entry.calls.all())
    attempt = sum(call.round == number for call in entry.calls.all()) + 1
    if number == 1:
        prompt = first_prompt(entry.paragraph, graphs_of(entry))
        return EntryRound(entry, number, attempt, prompt)
    before = calls[-1]
    if number == SIMPLE_STYLE:
        return EntryRound(entry, number, attempt, simple_prompt(before.answer, before.question))
    graphs = graphs_of(entry)
    used = [member.triple for member in minimum_of(entry, calls, is_whole=True)]
    seed = entry.construction.parameters["seed"]
    triple = next_triple(graphs, used, seed, str(entry.number), number)
    if triple is None:
        return None
    names = {graph[0][0]: graph[0][2] for graph in graphs}
    prompt = next_prompt(before.answer, before.question, triple, names[triple[0]])
    return EntryRound(entry, number, attempt, prompt, triple)


class _Writer:
    """One worker's use of a model: it asks for rounds and stores the completions."""

    def __init__(
        self, hold: JobHold, construction: Construction, spec: ModelSpec, model: LanguageModel
    ) -> None:
        self._hold = hold
        self._parameters = construction.parameters
        self._model = model
        self._name = spec.name
        self._is_limited = is_limited(spec.name)
        most = 1 if model.device == "cpu" else LANGUAGE_MODELS[spec.backend].least_at_once
        self._together = calls_at_once(spec.name, most)
        # Work with a limited model may stop after each call, and prompts without text that are not
        # settled by then are asked again. So they are settled at once.
        self._most_silences = 1 if self._is_limited else MOST_SILENCES
        self._silent: list[tuple[EntryRound, Said]] = []  # consecutive prompts without any text

    def ask(self, asked: Sequence[EntryRound]) -> None:
        """Ask some rounds, those of one attempt together, and store each completion at once."""
        for attempt in sorted({each.attempt for each in asked}):
            of_attempt = [each for each in asked if each.attempt == attempt]
            for some in lots(of_attempt, self._together):
                self._hold.next_step()
                self._wait_for_turn(len(some), PATIENCE_SECONDS)
                self._ask_together(some)

    def settle(self) -> None:
        """Store prompts without text as refusals of their entries, if the model still answers.

        Raises:
            JobError: the model does not answer the probe either. Nothing is stored.
        """
        if self._silent and not self._is_there():
            raise JobError(f"{self._name} gives no text: {self._silent[-1][1].problem}")
        self._store_refusals()

    def _is_there(self) -> bool:
        self._wait_for_turn(1, math.inf)
        [completion] = self._model.complete([PROBE], Decoding())
        return not completion.problem

    def _store_refusals(self) -> None:
        for asked, said in self._silent:
            self._store(asked, said)
        self._silent = []

    def _ask_together(self, asked: Sequence[EntryRound]) -> None:
        prompts = [Prompt(each.prompt) for each in asked]
        decoding = self._decoding(asked[0])
        answers = waited_for(lambda: self._model.complete(prompts, decoding))
        for each, (completion, seconds) in zip(asked, answers, strict=True):
            said = _said(each, completion, seconds, self._parameters["max_tokens"])
            if completion.problem:
                self._silent.append((each, said))
            else:
                self._store_refusals()
                self._store(each, said)
        if len(self._silent) >= self._most_silences:
            self.settle()

    def _decoding(self, asked: EntryRound) -> Decoding:
        """Return how completions of a round are decoded. Each attempt has a seed of its own."""
        temperature = self._parameters["temperature"]
        seed = random_key(self._parameters["seed"], "construction", asked.round, asked.attempt)
        return Decoding(
            temperature=temperature,
            max_tokens=self._parameters["max_tokens"],
            stop=STOPS,
            seed=seed if temperature else 0,
        )

    @transaction.atomic
    def _store(self, asked: EntryRound, said: Said) -> None:
        """Store a call. Its entry fails after a refusal or too many calls that cannot be read.

        Raises:
            WorkStopped: this worker has lost the job. Nothing is stored.
        """
        n_done = self._hold.job.n_done + (not said.problem)
        self._hold.advance(n_done=n_done)
        store_call(asked, said)
        if said.problem and (said.is_refused or asked.attempt >= MOST_ATTEMPTS):
            fail_entry(
                asked.entry, f"{_title(asked.round)}, attempt {asked.attempt}: {said.problem}"
            )
        self._hold.job.n_done = n_done

    def _wait_for_turn(self, n: int, patience: float) -> None:
        """Wait until a limited model may be called n times, and renew the lease meanwhile.

        Args:
            patience: seconds to wait at most.

        Raises:
            WorkStopped: this worker has lost the job, or the wait would be longer than `patience`.
        """
        if not self._is_limited:
            return
        seconds = reserve(self._name, n, patience)
        if seconds > patience:
            raise WorkStopped
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self._hold.keep()
            time.sleep(min(left, LOOKS_EVERY_SECONDS))
        self._hold.keep()


def _said(asked: EntryRound, completion: Completion, seconds: float, most_tokens: int) -> Said:
    """Return the answer and the question that a completion contains, or why it cannot be read."""
    said = Said(
        completion=completion.whole,
        n_prompt_tokens=completion.n_prompt_tokens,
        n_completion_tokens=completion.n_tokens or count_tokens(completion.whole),
        seconds=seconds,
    )
    if completion.problem:
        return said._replace(problem=completion.problem, is_refused=True)
    try:
        if asked.round == SIMPLE_STYLE:
            return said._replace(question=simple_question(completion.text))
        return said._replace(**written(completion.text)._asdict())
    except UnreadableError as error:
        cut = f" (it was cut off after {most_tokens:,} tokens)" if completion.is_cut else ""
        return said._replace(problem=f"{error}{cut}")


def _title(number: int) -> str:
    return "the simple style" if number == SIMPLE_STYLE else f"round {number}"
