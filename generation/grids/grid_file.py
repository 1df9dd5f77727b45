"""Grid files: the choices of a grid as TOML, which are checked when they are read.

    name = "pilot"
    prompts = ["no-evidence", "golden", "retrieved-3"]
    temperatures = [0.0, 0.7]

    [[models]]
    name = "extractive"

Everything else has a default. An unknown key is refused, so that no choice is lost by a typing
error.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import tomli_w

from generation.importers.errors import excerpt
from generation.limits import LARGEST_SEED, LONGEST_NAME
from generation.model_specs import MOST_PRICE, USUAL_CURRENCY, Price
from generation.retrieval.bm25 import IDF_RULES, Bm25, IdfRule
from generation.text.dialog_forms import FORMS, Form
from generation.text.dialog_prompts import POSITIONS, Position
from generation.text.prompt_types import TWELVE, is_about_graph, prompt_type
from generation.toml_text import TomlTrouble, parse_toml

Ranking = Literal["bm25", "random"]
Query = Literal["question", "dialog"]
Precision = Literal["fp32", "bf16"]
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)
QUERIES: Mapping[Query, str] = {"question": "the user question", "dialog": "the whole dialog"}
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

LONGEST_TEXT = 1_000_000  # characters of a file
LONGEST_CURRENCY = 10
MOST_ENTRIES = 100  # entries of one list; a recipe may have 80 prompt types
MOST_SETUPS = 2_000  # setups of a grid, before those that cannot differ are merged
HIGHEST_TEMPERATURE = 2.0
MOST_TOKENS = 1_000_000  # tokens of a prompt or a completion
LARGEST_TOP_K = 1_000_000
USUAL_MAX_TOKENS, USUAL_MAX_TOKENS_WITH_GRAPH = 128, 500  # one answer; several cited sentences
USUAL_PROMPTS = tuple(kind.key for kind in TWELVE)
MULTIPLIED = (
    "models",
    "prompts",
    "temperatures",
    "seeds",
    "positions",
    "form",
    "top_p",
    "top_k",
    "max_tokens",
)


class GridError(ValueError):
    """A grid whose choices cannot be used."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        """Build the message from what was found and what was expected.

        Args:
            where: the key: 'temperatures', 'retrieval.k1' or 'models.2.name' (from 1); "" for the
                whole file.
        """
        begin = f"{where}: found" if where else "Found"
        super().__init__(f"{begin} {found}; expected {expected}")
        self.where, self.found, self.expected = where, found, expected

    @property
    def field(self) -> str:
        """The first part of `where`: the key at the top of the file."""
        return self.where.partition(".")[0]


class GridModel(NamedTuple):
    """A model to ask: a listed one, or one that is always available."""

    name: str
    precision: Precision = "fp32"
    price: Price | None = None  # None: not known


class Retrieval(NamedTuple):
    """The choices of how passages are found for prompts with retrieval."""

    ranking: Ranking = "bm25"
    query: Query = "question"
    idf: IdfRule = "okapi-epsilon"
    k1: float = 1.5
    b: float = 0.75

    @property
    def bm25(self) -> Bm25:
        return Bm25(self.idf, self.k1, self.b)


USUAL_RETRIEVAL = Retrieval()


class GridChoices(NamedTuple):
    """The choices of a grid, which asks every combination of the settings in its lists."""

    name: str
    models: tuple[GridModel, ...]
    sample: str = ""  # name of a sample; "" for every example of the dataset
    prompts: tuple[str, ...] = USUAL_PROMPTS  # keys of prompt types
    temperatures: tuple[float, ...] = (0.0, 0.7)
    seeds: tuple[int, ...] = (0,)
    positions: tuple[Position, ...] = ("before-dialog",)  # places of the evidence
    form: tuple[Form, ...] = ()  # forms of the dialog; empty: the usual one of each model
    top_p: tuple[float, ...] = (1.0,)
    top_k: tuple[int, ...] = (0,)  # 0: all tokens
    max_tokens: tuple[int, ...] = (USUAL_MAX_TOKENS,)  # tokens of a completion, at most
    budget: int | None = None  # tokens of a prompt, at most
    one_shot: str = ""  # key of the example for the demonstration; "" for the paper's
    retrieval: Retrieval = USUAL_RETRIEVAL
    currency: str = USUAL_CURRENCY

    def as_data(self) -> dict[str, Any]:
        """Return the choices as JSON and TOML store them: the reverse of `of_data`.

        Choices without a value (no budget, no price, no form) are left out.
        """
        values = self._asdict()
        for name, value in values.items():
            if isinstance(value, tuple) and name not in ("models", "retrieval"):
                values[name] = list(value)
        values |= {
            "retrieval": values.pop("retrieval")._asdict(),
            "models": list(map(_model_data, values.pop("models"))),
        }
        return {name: value for name, value in values.items() if value not in (None, [])}

    def as_toml(self) -> str:
        """Return the choices as a grid file: the reverse of `read_grid`."""
        return tomli_w.dumps(self.as_data())

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model's tokens; None: not known."""
        return next((each.price for each in self.models if each.name == model), None)


def read_grid(text: str) -> GridChoices:
    """Return the grid of a TOML file.

    Raises:
        GridError: the text is no TOML, or no grid.
    """
    try:
        return of_data(parse_toml(text, LONGEST_TEXT, "a grid file"))
    except TomlTrouble as trouble:
        raise GridError("", trouble.found, trouble.expected) from trouble


def of_data(data: Mapping[str, Any]) -> GridChoices:
    """Return the grid of some data: the reverse of `GridChoices.as_data`.

    Raises:
        GridError: a key is not known, or its value cannot be used.
    """
    table = _Table(data, "")
    table.refuse_unknown(GridChoices._fields)
    usual = GridChoices("", ())
    prompts = table.several("prompts", _prompt, usual.prompts)
    usual_tokens = usual_max_tokens(prompts)
    grid = GridChoices(
        name=table.name("name"),
        models=_models(table),
        sample=table.text("sample", ""),
        prompts=prompts,
        temperatures=table.several(
            "temperatures", _number(0, HIGHEST_TEMPERATURE), usual.temperatures
        ),
        seeds=table.several("seeds", _whole(0, LARGEST_SEED), usual.seeds),
        positions=table.several("positions", _one_of(POSITIONS), usual.positions),
        form=table.several("form", _one_of(tuple(FORMS)), usual.form),
        top_p=table.several("top_p", _top_p, usual.top_p),
        top_k=table.several("top_k", _whole(0, LARGEST_TOP_K), usual.top_k),
        max_tokens=table.several("max_tokens", _whole(1, MOST_TOKENS), (usual_tokens,)),
        budget=table.value("budget", _whole(1, MOST_TOKENS), None),
        one_shot=table.text("one_shot", ""),
        retrieval=_retrieval(table.inner("retrieval")),
        currency=table.name("currency", USUAL_CURRENCY, LONGEST_CURRENCY),
    )
    _check_size(grid)
    return grid


def usual_max_tokens(prompts: Iterable[str]) -> int:
    """Return the length of completions for a grid with such prompts that does not set it."""
    return USUAL_MAX_TOKENS_WITH_GRAPH if any(map(is_about_graph, prompts)) else USUAL_MAX_TOKENS


def _check_size(grid: GridChoices) -> None:
    """Raise a GridError, which names the longest list, if a grid has too many setups."""
    n_values = {name: len(getattr(grid, name)) or 1 for name in MULTIPLIED}
    n_setups = math.prod(n_values.values())
    if n_setups > MOST_SETUPS:
        factors = [f"{n:,} {name}" for name, n in n_values.items() if n > 1]
        raise GridError(
            max(n_values, key=lambda name: n_values[name]),
            f"{n_setups:,} setups ({' × '.join(factors)})",
            f"at most {MOST_SETUPS:,}",
        )


Read = Callable[[Any], Any]  # returns the value, or raises _Unexpected


class _Unexpected(Exception):
    """A value that cannot be used; the message says what was expected."""


class _Table:
    """A table of a grid file, with its place in the file."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, Mapping):
            raise GridError(where, _shown(values), "a table")
        self._values, self._where = values, where

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        """Raise a GridError if there is any other key."""
        for key in self._values:
            if key not in known:
                raise GridError(self.place(key), "an unknown key", f"one of {', '.join(known)}")

    def place(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key

    def value(self, key: str, read: Read, usual: Any) -> Any:
        """Return the value of a key; `usual` if the key is missing."""
        if self._values.get(key) is None:  # JSON may hold null
            return usual
        return self._read(self.place(key), read, self._values[key])

    def several(self, key: str, read: Read, usual: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of a list, which must all differ."""
        given = self._values.get(key)
        if given is None:
            return usual
        if not isinstance(given, list | tuple) or not given:
            raise GridError(self.place(key), _shown(given), "a list of one value or more")
        if len(given) > MOST_ENTRIES:
            raise GridError(self.place(key), f"{len(given)} values", f"at most {MOST_ENTRIES}")
        values = tuple(self._read(self.place(key), read, each) for each in given)
        for place, value in enumerate(values):
            if value in values[:place]:
                raise GridError(self.place(key), f"{_shown(value)} twice", "each value once")
        return values

    def text(self, key: str, usual: str) -> str:
        value: str = self.value(key, _text, usual)
        return value.strip()

    def name(self, key: str, usual: str = "", longest: int = LONGEST_NAME) -> str:
        """Return a text of one line that is not empty."""
        name = self.text(key, usual)
        if not 0 < len(name) <= longest or not name.isprintable():
            raise GridError(
                self.place(key), _shown(name), f"a text of 1 to {longest} characters in one line"
            )
        return name

    def inner(self, key: str) -> "_Table":
        return _Table(self._values.get(key) or {}, self.place(key))

    def get(self, key: str) -> Any:
        return self._values.get(key)

    def _read(self, where: str, read: Read, value: Any) -> Any:
        try:
            return read(value)
        except _Unexpected as exc:
            raise GridError(where, _shown(value), str(exc)) from exc


def _models(table: _Table) -> tuple[GridModel, ...]:
    given = table.get("models")
    if not isinstance(given, list | tuple) or not given:
        raise GridError("models", _shown(given), "a [[models]] table for each model")
    models: list[GridModel] = []
    for number, values in enumerate(given, start=1):
        model = _model(_Table(values, f"models.{number}"))
        for other in models:
            if other.name != model.name:
                continue
            if other.precision == model.precision:
                raise GridError(f"models.{number}", f"{model.name} twice", "each model once")
            if other.price != model.price:
                raise GridError(
                    f"models.{number}.price",
                    "another price of the same model",
                    "one price for each model",
                )
        models.append(model)
    return tuple(models)


def _model(table: _Table) -> GridModel:
    table.refuse_unknown(GridModel._fields)
    return GridModel(
        table.name("name"),
        table.value("precision", _one_of(PRECISIONS), "fp32"),
        _price(table.inner("price")) if table.get("price") is not None else None,
    )


def _price(table: _Table) -> Price:
    table.refuse_unknown(Price._fields)
    return Price(*(table.value(name, _number(0, MOST_PRICE), 0.0) for name in Price._fields))


def _retrieval(table: _Table) -> Retrieval:
    table.refuse_unknown(Retrieval._fields)
    usual = USUAL_RETRIEVAL
    return Retrieval(
        ranking=table.value("ranking", _one_of(RANKINGS), usual.ranking),
        query=table.value("query", _one_of(tuple(QUERIES)), usual.query),
        idf=table.value("idf", _one_of(tuple(IDF_RULES)), usual.idf),
        k1=table.value("k1", _number(0), usual.k1),
        b=table.value("b", _number(0, 1), usual.b),
    )


def _model_data(model: GridModel) -> dict[str, Any]:
    data: dict[str, Any] = {"name": model.name, "precision": model.precision}
    return data if model.price is None else data | {"price": model.price._asdict()}


# --- single values --------------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unexpected("a text")
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise _Unexpected("a text without NUL characters and lone surrogates")
    return value


def _prompt(value: Any) -> str:
    try:
        return prompt_type(_text(value).strip()).key
    except ValueError as exc:
        raise _Unexpected(str(exc).partition("expected ")[2]) from exc


def _top_p(value: Any) -> float:
    number = _finite(value)
    if number is None or not 0 < number <= 1:
        raise _Unexpected("a number above 0, at most 1")
    return number


def _number(least: float, most: float = math.inf) -> Read:
    between = f"from {least:,.10g} to {most:,.10g}" if most < math.inf else f"of {least:g} or more"

    def read(value: Any) -> float:
        number = _finite(value)
        if number is None or not least <= number <= most:
            raise _Unexpected(f"a number {between}")
        return number + 0.0  # no negative zero

    return read


def _whole(least: int, most: int) -> Read:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _Unexpected(f"a whole number from {least:,} to {most:,}")
        return value

    return read


def _one_of(words: tuple[str, ...]) -> Read:
    def read(value: Any) -> str:
        if value not in words:
            raise _Unexpected(" or ".join(words))
        return str(value)

    return read


def _finite(value: Any) -> float | None:
    """Return a number as a float; None: it is no number, or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _shown(value: Any) -> str:
    """Return a value in the form in which errors show it."""
    if value in (None, "", []):
        return "nothing"
    return repr(value)[:80] if isinstance(value, str) else excerpt(value)
