"""A small model is taught scores, and then judges replies: a real one, of the tiniest kind."""

import json
import math
import random

import pytest

from evaluation.backends.base import Reply
from evaluation.backends.distillation_training import CARD, Lesson, Training, TrainingRecipe
from evaluation.backends.distilled_classifier import Distilled, dialog_text
from generation.model_specs import BackendError, ModelSpec
from tests.tiny_encoder import BAD, GOOD, WORDS, tiny_encoder

RECIPE = TrainingRecipe("sensible", epochs=3, learning_rate=1e-2, batch_size=8, seed=1)
CONTENT = WORDS[:10]


class Interrupted(Exception):
    """The exception with which a test stops the training."""


def lessons(n, seed):
    """Return replies of six words; the teacher gives .9 where one is 'guitar', .1 for 'dogs'."""
    draw = random.Random(seed)
    found = []
    for number in range(n):
        words = [*draw.choices(CONTENT, k=5), GOOD if number % 2 else BAD]
        draw.shuffle(words)
        turns = (("user", f"what about {draw.choice(CONTENT)} ?"),)
        found.append(Lesson(Reply(turns, " ".join(words)), 0.9 if number % 2 else 0.1))
    return found


TAUGHT, HELD_OUT = lessons(120, seed=1), lessons(30, seed=2)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tiny_encoder(tmp_path_factory.mktemp("models") / "base")
    return ModelSpec("transformers", "base", str(folder))


def training(base, folder, recipe=RECIPE, taught=TAUGHT):
    return Training(base, recipe, taught, HELD_OUT, folder)


def nothing():
    """Keep no lease."""


@pytest.fixture(scope="module")
def taught(base, tmp_path_factory):
    """Return a finished training, its epochs, and the folder of its model."""
    folder = tmp_path_factory.mktemp("taught")
    done = training(base, folder / "state")
    epochs = list(done.epochs(nothing))
    done.save(folder / "small", {"base": "base", "seed": 1})
    return done, epochs, folder / "small"


@pytest.fixture(scope="module")
def small(taught):
    return Distilled(ModelSpec("distilled", "small", str(taught[2])))


# --- what is learnt -------------------------------------------------------------------------


def test_the_loss_falls_and_held_out_replies_are_scored_better_than_by_the_mean(taught):
    """Half of the lessons are .9 and half .1: the mean .5 is off by .4, squared .16."""
    done, epochs, _ = taught

    assert [epoch.number for epoch in epochs] == [1, 2, 3]
    assert epochs[-1].loss < epochs[0].loss
    assert done.mse_of_mean() == pytest.approx(0.16, abs=1e-6)
    assert epochs[-1].held_out_mse < 0.02


def test_the_saved_model_says_what_was_planted(small):
    judged = small.sensibleness([lesson.reply for lesson in HELD_OUT])

    assert all(
        abs(each.score - lesson.score) < 0.2 for each, lesson in zip(judged, HELD_OUT, strict=True)
    )
    assert not any(each.problem or each.is_truncated for each in judged)


def test_it_is_saved_as_safetensors_with_a_card(taught, small):
    _, _, folder = taught

    assert {path.name for path in folder.iterdir()} >= {"config.json", "model.safetensors", CARD}
    assert json.loads((folder / CARD).read_text()) == {"base": "base", "seed": 1}
    assert (small.metric, small.signature) == (
        "sensible",
        "distilled|sensible|max_tokens:48|fp32|v:1",
    )
    assert small.revision
    assert set(small.files) >= {"config.json", "model.safetensors", "tokenizer.json"}


def test_a_training_that_was_stopped_goes_on_to_the_same_model(base, taught, tmp_path):
    def stop():
        if (tmp_path / "state.pt").exists():  # in the second epoch
            raise Interrupted

    with pytest.raises(Interrupted):
        list(training(base, tmp_path).epochs(stop))
    seen = []

    again = training(base, tmp_path)
    epochs = list(again.epochs(lambda: seen.append(1)))

    assert epochs == taught[1]
    assert len(seen) == 2 * (120 // 8 + 1)  # two epochs: 15 batches, and the held-out part
    again.forget()
    assert not tmp_path.exists()


def test_the_state_of_another_training_is_not_taken_up(base, taught, tmp_path):
    list(training(base, tmp_path, RECIPE._replace(epochs=1)).epochs(nothing))

    epochs = list(training(base, tmp_path).epochs(nothing))

    assert epochs == taught[1]


# --- what it reads --------------------------------------------------------------------------


def test_the_dialog_is_cut_from_its_beginning_and_the_reply_never(small):
    """48 tokens, 3 of them special, 3 of the reply: 42 are left for the dialog."""
    turns = (("user", "rome " * 40), ("agent", "museum " * 20), ("user", "what about italy ?"))
    reply = Reply(turns, "six closes guitar")
    reader = small._reader

    text = reader._tokenizer.decode(reader.inputs([reply])["input_ids"][0])
    [judged] = small.sensibleness([reply])

    assert text.endswith("[UNK] : what about italy ? [SEP] six closes guitar [SEP]")
    assert text.count("rome") == 42 - (2 + 20) - (2 + 4)
    assert judged.is_truncated
    assert judged.score > 0.5


def test_a_reply_that_leaves_no_room_has_a_problem_and_others_a_score(small):
    long = Reply((("user", "what about the capital of italy , then ?"),), "museum " * 40)

    no_room, fine = small.sensibleness([long, HELD_OUT[1].reply])

    assert math.isnan(no_room.score)
    assert no_room.problem == "the reply leaves no room for its dialog in 48 tokens"
    assert fine.score > 0.5


def test_what_stands_beside_a_reply_changes_nothing(small):
    replies = [lesson.reply for lesson in HELD_OUT[:6]]

    together = [each.score for each in small.sensibleness(replies)]
    alone = [small.sensibleness([reply])[0].score for reply in replies]

    assert together == pytest.approx(alone, abs=1e-5)
    assert small.sensibleness([]) == []


def test_turns_are_the_users_and_the_others():
    turns = (("User", "Hello?"), ("assistant", "Hello."), ("user", "When?"))

    assert dialog_text(Reply(turns, "Now.")) == "A: Hello?\nB: Hello.\nA: When?"


# --- what is refused ------------------------------------------------------------------------


def test_a_model_that_was_not_distilled_is_refused(base):
    with pytest.raises(BackendError, match="distil"):
        Distilled(base)


def test_a_folder_without_a_model_is_no_base(tmp_path):
    with pytest.raises(BackendError, match="found nothing"):
        training(ModelSpec("transformers", "lost", str(tmp_path / "lost")), tmp_path)


def test_replies_without_room_are_left_out_of_the_training_and_counted(base, tmp_path):
    turns = (("user", "what about the capital of italy , then ?"),)
    long = Lesson(Reply(turns, "museum " * 60), 1.0)

    assert training(base, tmp_path, taught=[*TAUGHT, long]).n_left_out == 1
    with pytest.raises(BackendError, match="too long to leave room"):
        training(base, tmp_path, taught=[long])
