"""The training of a small classifier with the scores that a language model gave, by epochs.

After each epoch the state is stored, so that another worker can continue from there. The same seed,
data and base give the same model, interrupted or not (on the same kind of processor).
"""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.backends.base import Reply
from evaluation.backends.distilled_classifier import TAUGHT, ReplyReader
from generation.backends.checkpoint_loader import share_cores
from generation.backends.model_files import NO_WORDS, first_line, model_files
from generation.model_specs import BackendError, ModelSpec

CARD = "training.json"  # the file in the model's folder that records what it was made of
STATE = "state.pt"
WARM_UP = 0.1  # the share of batches in which the learning rate rises; then it falls to 0
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SCORED_TOGETHER = 64


class Lesson(NamedTuple):
    """A reply and the score that the language model gave it, in [0, 1]."""

    reply: Reply
    score: float


class TrainingRecipe(NamedTuple):
    """The settings of a training. Each of them changes the resulting model."""

    metric: str  # the metric whose scores are taught: 'sensible' or 'specific'
    epochs: int = 3
    learning_rate: float = 5e-5
    batch_size: int = 16
    seed: int = 0


class Epoch(NamedTuple):
    """The result of one pass over the training part."""

    number: int  # counted from 1
    loss: float  # mean binary cross-entropy against the soft scores, during training
    held_out_loss: float
    held_out_mse: float  # mean squared error against the language model's scores


class Training:
    """One training, which continues from its stored state.

    Args:
        base: a checkpoint with an encoder, trained for any task; its output is replaced by a new
            one.
        recipe: the settings of the training.
        lessons: the lessons to train with. Those whose reply leaves no room for its dialog are left
            out.
        held_out: lessons of other dialogs, which are not used for training.
        folder: the folder for the state, on this machine.

    Raises:
        BackendError: the base cannot be used.
    """

    def __init__(
        self,
        base: ModelSpec,
        recipe: TrainingRecipe,
        lessons: Sequence[Lesson],
        held_out: Sequence[Lesson],
        folder: Path,
    ) -> None:
        share_cores()
        self._recipe = recipe
        found = model_files(base)
        self.base_revision = found.revision
        self._tokenizer, self._model = _base(found.folder, base.location, recipe)
        self._reader = ReplyReader(self._tokenizer, self._model)
        self._lessons = self._readable(lessons)
        self._held_out = self._readable(held_out)
        self.n_left_out = len(lessons) + len(held_out) - len(self._lessons) - len(self._held_out)
        if not self._lessons or not self._held_out:
            raise BackendError(
                f"{base.name}: the model reads at most {self._reader.max_tokens} tokens, and every "
                "reply is too long to leave room for its dialog"
            )
        self._folder = folder
        self._made_of = hashlib.sha256(
            json.dumps([recipe, self.base_revision, lessons, held_out]).encode()
        ).hexdigest()

    def epochs(self, keep: Callable[[], None]) -> Iterator[Epoch]:
        """Yield every epoch. Epochs in the stored state are not trained again.

        Args:
            keep: a function that is called after each batch; any exception in it ends the training.
        """
        import torch

        optimizer = torch.optim.AdamW(
            self._model.parameters(), lr=self._recipe.learning_rate, weight_decay=WEIGHT_DECAY
        )
        done = self._resumed(optimizer)
        yield from done
        for number in range(len(done) + 1, self._recipe.epochs + 1):
            loss = self._trained(number, optimizer, keep)
            scores = self._scores(self._held_out, keep)
            done.append(Epoch(number, loss, *_errors(scores, self._held_out)))
            self._write_state(optimizer, done)
            yield done[-1]

    def save(self, folder: Path, card: Mapping[str, Any]) -> None:
        """Write model, tokenizer and card into a folder: either all of them or none."""
        beside = folder.with_name(f".{folder.name}.{os.getpid()}")
        shutil.rmtree(beside, ignore_errors=True)
        self._model.save_pretrained(beside)
        self._tokenizer.save_pretrained(beside)
        (beside / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False), "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        beside.rename(folder)

    def forget(self) -> None:
        """Delete the stored state. It is no longer needed once the model is saved."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def mse_of_mean(self) -> float:
        """Return the error of a model that gives every held-out reply the mean score."""
        mean = sum(lesson.score for lesson in self._lessons) / len(self._lessons)
        return _errors([mean] * len(self._held_out), self._held_out)[1]

    def _readable(self, lessons: Sequence[Lesson]) -> list[Lesson]:
        n_tokens = self._reader.n_tokens([lesson.reply for lesson in lessons])
        return [lesson for lesson in lessons if n_tokens[lesson.reply] is not None]

    def _trained(self, number: int, optimizer: Any, keep: Callable[[], None]) -> float:
        """Train once with all lessons, in an order that depends on the epoch; return mean loss."""
        import torch

        order = list(self._lessons)
        random.Random(f"{self._recipe.seed}/{number}").shuffle(order)
        size = self._recipe.batch_size
        starts = range(0, len(order), size)
        total = 0.0
        self._model.train()
        with torch.random.fork_rng():
            torch.manual_seed(self._recipe.seed * 1000 + number)  # seed for dropout
            for place, start in enumerate(starts, start=(number - 1) * len(starts)):
                batch = order[start : start + size]
                share = (place + 1) / (self._recipe.epochs * len(starts))
                for group in optimizer.param_groups:
                    group["lr"] = self._recipe.learning_rate * _rate(share)
                logits = self._model(**self._reader.inputs([each.reply for each in batch])).logits
                wanted = torch.tensor([each.score for each in batch], device=logits.device)
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], wanted)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self._model.parameters(), LARGEST_GRADIENT)
                optimizer.step()
                total += loss.item() * len(batch)
                keep()
        return total / len(order)

    def _scores(self, lessons: Sequence[Lesson], keep: Callable[[], None]) -> list[float]:
        self._model.eval()
        scores: list[float] = []
        for start in range(0, len(lessons), SCORED_TOGETHER):
            batch = lessons[start : start + SCORED_TOGETHER]
            scores += self._reader.scores([lesson.reply for lesson in batch])
            keep()
        return scores

    # --- the state after an epoch ---------------------------------------------------------

    def _write_state(self, optimizer: Any, done: Sequence[Epoch]) -> None:
        import torch

        self._folder.mkdir(parents=True, exist_ok=True)
        state = {
            "made_of": self._made_of,
            "model": self._model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "epochs": [list(epoch) for epoch in done],
        }
        beside = self._folder / f"{STATE}.{os.getpid()}"
        torch.save(state, beside)
        beside.replace(self._folder / STATE)

    def _resumed(self, optimizer: Any) -> list[Epoch]:
        """Load the stored state of this same training, if there is one, and return its epochs."""
        import torch

        try:
            state = torch.load(
                self._folder / STATE, map_location=self._model.device, weights_only=True
            )
        except Exception:  # the state is missing or incomplete: start from the beginning
            return []
        if state.get("made_of") != self._made_of:
            return []
        self._model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return [Epoch(*epoch) for epoch in state["epochs"]]


def _base(folder: Path, location: str, recipe: TrainingRecipe) -> tuple[Any, Any]:
    """Return tokenizer and model. The model has one new output with the name of the metric."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    assert recipe.metric in TAUGHT
    safe: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, **safe)
        with torch.random.fork_rng():
            torch.manual_seed(recipe.seed)  # seed for the new output's weights
            model, found = AutoModelForSequenceClassification.from_pretrained(
                folder,
                num_labels=1,
                id2label={0: recipe.metric},
                label2id={recipe.metric: 0},
                dtype=torch.float32,
                use_safetensors=True,
                ignore_mismatched_sizes=True,
                output_loading_info=True,
                **safe,
            )
    except Exception as exc:  # a file from elsewhere may raise any exception
        raise BackendError(
            f"{location}: the model cannot be loaded as an encoder. Are its files complete? "
            f"{first_line(exc)}"
        ) from exc
    encoder = f"{model.base_model_prefix}."
    misfits = [name for name, *_ in found["mismatched_keys"]]
    lost = [
        name
        for name in [*sorted(found["missing_keys"]), *misfits]
        if name.startswith(encoder) and "pooler" not in name  # language models have no pooler
    ]
    if lost:
        raise BackendError(
            f"{location}: found no fitting weights for {', '.join(lost[:3])}; expected an encoder"
        )
    known = tokenizer("The museum opens at nine.", add_special_tokens=False)["input_ids"]
    if set(known) <= {tokenizer.unk_token_id}:  # the vocabulary is missing
        raise BackendError(f"{location}: {NO_WORDS}")
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu")


def _rate(share: float) -> float:
    """Return the factor for the learning rate after this share of all batches."""
    return min(share / WARM_UP, max(0.0, 1 - share) / (1 - WARM_UP))


def _errors(scores: Sequence[float], lessons: Sequence[Lesson]) -> tuple[float, float]:
    """Return mean binary cross-entropy and mean squared error of scores against the lessons."""
    import torch

    given = torch.tensor(scores, dtype=torch.float64).clamp(1e-7, 1 - 1e-7)
    wanted = torch.tensor([lesson.score for lesson in lessons], dtype=torch.float64)
    loss = torch.nn.functional.binary_cross_entropy(given, wanted)
    return loss.item(), ((given - wanted) ** 2).mean().item()
