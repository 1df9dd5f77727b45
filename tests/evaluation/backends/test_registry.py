"""The models that a process keeps: one in memory, and connections to a few servers."""

import gc
from weakref import ref

import pytest

from evaluation.backends.registry import BACKENDS, BackendKind, open_backend
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_specs import BackendError, ModelSpec


class Model:
    """A stand-in for the weights that fill the memory."""

    device = "cpu"


@pytest.fixture
def alive(monkeypatch, tmp_path):
    """Register models that say which others are in memory while they are loaded."""
    opened: list[ref[Model]] = []
    found: list[int] = []

    def load(spec):
        gc.collect()
        found.append(sum(each() is not None for each in opened))
        model = Model()
        opened.append(ref(model))
        return model

    monkeypatch.setitem(BACKENDS, "large", BackendKind("Large", load))
    monkeypatch.setitem(BACKENDS, "server", BackendKind("Server", load, is_server=True))
    monkeypatch.setitem(BACKENDS, "light", BackendKind("Light", load, needs_model=False))
    return found


def spec(folder, name, backend="large"):
    (folder / name).mkdir(exist_ok=True)
    return ModelSpec(backend, name, str(folder / name))


def test_a_model_is_let_go_before_the_next_is_loaded(alive, tmp_path):
    one, other = spec(tmp_path, "one"), spec(tmp_path, "other")

    assert open_backend(one) is open_backend(one)
    open_backend(other)
    open_backend(one)

    assert alive == [0, 0, 0]


def test_a_model_whose_parts_know_each_other_is_let_go_too(monkeypatch, tmp_path):
    class Round(Model):
        layers: list[Model]

    def load(spec):
        model = Round()
        model.layers = [model]
        return model

    monkeypatch.setitem(BACKENDS, "round", BackendKind("Round", load))
    gc.disable()
    try:
        first = ref(open_backend(spec(tmp_path, "one", "round")))
        open_backend(spec(tmp_path, "other", "round"))
        is_gone = first() is None
    finally:
        gc.enable()

    assert is_gone


def test_what_needs_no_memory_leaves_the_model_where_it_is(alive, tmp_path):
    model = open_backend(spec(tmp_path, "one"))
    server = open_backend(ModelSpec("server", "judge", "http://j/v1"))

    open_backend(ModelSpec("light"))

    assert open_backend(spec(tmp_path, "one")) is model
    assert open_backend(ModelSpec("server", "judge", "http://j/v1")) is server


def test_a_model_whose_files_changed_is_loaded_anew(alive, tmp_path):
    before = ref(open_backend(spec(tmp_path, "one")))
    (tmp_path / "one" / "config.json").write_text("{}")

    open_backend(spec(tmp_path, "one"))

    gc.collect()
    assert before() is None


def test_a_backend_that_is_not_there_is_named():
    with pytest.raises(BackendError, match="backend 'none'; expected one of added_words, "):
        open_backend(ModelSpec("none"))


def test_a_model_that_can_judge_nothing_is_no_backend():
    assert LANGUAGE_MODELS.keys() - BACKENDS.keys() == {"extractive"}
