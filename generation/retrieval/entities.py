"""The recognition of entities' names in questions, by a spaCy model or the graph's own labels.

spaCy is loaded when the first question is read, or in the background where there are graphs. The
site never waits for it when it starts.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from django.conf import settings
from django.db import DatabaseError, connection

from generation.batches import lots
from generation.models import Alias, Entity
from generation.retrieval.graph_state import GraphState, graph_state
from generation.retrieval.name_spelling import (
    FoundName,
    KnownName,
    folded,
    is_common,
    longest,
    pieces,
    straight,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc

KEPT_GRAPHS = 2  # per process: a matcher takes 70 MB for 50,000 names
NAMES_AT_ONCE = 1_000  # names turned into documents, which take kilobytes each
PROPER, SMALL = "proper", "small"  # a name with a capital, and one in small letters
RULES = 2  # version of the rules for labels; a change of what they find raises it
# An apostrophe at the front belongs to some names: 's-Hertogenbosch, 't Hooft.
_BEFORE = re.compile(r"""(?:[\s"“”„«»\u2018`\\]|'(?!s-|t\s))+""")
_BEHIND = re.compile(r"""(?:['’]s\b|[\s"“”„«»'’`\\])+$""")


class Mention(NamedTuple):
    """A name in a question: its text with white space folded, its characters `start` to `end`."""

    text: str
    start: int
    end: int
    kind: str  # the recogniser's name for it: 'PERSON', 'GPE'; "" if only labels are known
    names: tuple[str, ...] = ()  # the names of the graph that it is, if labels are searched for


class Recogniser(Protocol):
    """An object that finds names in texts."""

    signature: str  # all that changes what it finds: 'spacy:en_core_web_sm-3.8.0', 'labels:2'
    title: str  # the same for people; pages show 'Names are found by …'
    problem: str  # why the model in the settings cannot be used; "" if there is no problem

    def mentions(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the names in each text, in order; no name overlaps another."""
        ...


def recogniser_for(dataset_id: int) -> Recogniser:
    """Return the spaCy model that the settings name, if installed, or else the label recogniser.

    Recognisers are kept in memory. When a graph has grown, only the new names are read. If a model
    in the settings cannot be used, that is no error, but the `problem` of the label recogniser.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    return recogniser_of(dataset_id, graph_state(dataset_id))


def load_ahead() -> None:
    """Load spaCy and its model if a dataset has a graph, before the first question is read.

    This takes seconds, in a thread of its own. If the database cannot be used, nothing is loaded.
    """
    try:
        has_graph = Entity.objects.exists()
    except DatabaseError:
        return
    finally:
        connection.close()
    if has_graph:
        import spacy  # noqa: F401 - the label recogniser needs it too

        spacy_model()


def has_model() -> bool:
    """Return whether the spaCy model that the settings name is installed and can be used."""
    return isinstance(spacy_model(), ModelRecogniser)


def spacy_model() -> "ModelRecogniser | Absent":
    """Return the spaCy model that the settings name, or why there is none."""
    return _model(settings.SPACY_MODEL)


def recogniser_of(dataset_id: int, state: GraphState) -> Recogniser:
    """Return the recogniser for a graph whose state is known already."""
    found = spacy_model()
    if isinstance(found, ModelRecogniser):
        return found
    return _labels(dataset_id, state.created_at, found).at(state)


def label_recogniser_of(dataset_id: int, state: GraphState) -> Recogniser:
    """Return the label recogniser for a graph, for a comparison with the spaCy model."""
    return _labels(dataset_id, state.created_at, Absent("for comparison")).at(state)


class ModelRecogniser:
    """A recogniser with a trained spaCy pipeline and all its components."""

    problem = ""

    def __init__(self, pipeline: "Language", version: str) -> None:
        self._pipeline = pipeline
        name, _, number = version.partition("-")
        self.signature = f"spacy:{version}"
        self.title = f"the spaCy model {name} {number}"

    def mentions(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the entities of each text, without quotation marks and possessives around them.

        Text beyond the limit that spaCy reads at once (a million characters) is not read.
        """
        read = (text[: self._pipeline.max_length] for text in texts)
        for doc in self._pipeline.pipe(read):
            found = (
                cleaned(doc.text, ent.start_char, ent.end_char, ent.label_) for ent in doc.ents
            )
            yield [mention for mention in found if mention]


class LabelRecogniser:
    """A recogniser that finds the labels and aliases of one graph, as whole tokens.

    It looks for names in their own spelling first. Then it looks for those that it has not found
    without regard to capitals, in the rest of the text. Apostrophes and white space never matter,
    and beside scripts without blanks a name needs no border. If names overlap, it finds the longest
    of them only.
    """

    signature = f"labels:{RULES}"

    def __init__(self, names: Iterable[str], absent: "Absent") -> None:
        self.title = f"the graph’s own labels and aliases ({absent.why})"
        self.problem = absent.problem
        self._waiting = list(names)  # names to add before the next text is read
        self._n_of = Counter[str]()  # number of different names of each kind, SMALL or PROPER
        self._known: set[str] = set()
        self._named: dict[str, tuple[KnownName, ...]] = {}  # keys are forms without capitals
        self._matcher: PhraseMatcher | None = None
        self._pipeline: Language | None = None
        self._building = Lock()  # several threads of a site may ask at once

    def add(self, names: Iterable[str]) -> None:
        """Add further names, as if they had been given at the beginning."""
        with self._building:
            self._waiting += names

    def mentions(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the labels in each text. Their kind is "", because it is not known."""
        pipeline, matcher = self._ready()
        looked_for = self._looked_for
        for text in texts:
            read = _Pieces.of(text[: pipeline.max_length], pipeline)
            spelt: list[FoundName] = []
            others: list[FoundName] = []
            for _, start, end in matcher(read.caseless(pipeline)):
                form = read.form(start, end)
                named = [each for each in self._named[form.casefold()] if each.what in looked_for]
                if same := tuple(each.name for each in named if each.form == form):
                    spelt.append(FoundName(start, end, same))
                elif named and not is_common(form):
                    others.append(FoundName(start, end, tuple(each.name for each in named)))
            taken: set[int] = set()
            found = longest(spelt, taken)
            there = {name for each in found for name in each.names}
            found += longest((each for each in others if there.isdisjoint(each.names)), taken)
            yield [read.mention(each) for each in sorted(found)]

    @property
    def _looked_for(self) -> Collection[str]:
        """The kinds of names to look for.

        Names in small letters count as common words and are left out, unless they are at least half
        of all names.
        """
        return (PROPER,) if self._n_of[PROPER] > self._n_of[SMALL] else (PROPER, SMALL)

    def _ready(self) -> tuple["Language", "PhraseMatcher"]:
        """Return tokenizer and matcher, after adding all names that wait to be added."""
        import spacy
        from spacy.matcher import PhraseMatcher

        with self._building:
            if self._pipeline is None or self._matcher is None:
                self._pipeline = spacy.blank("en")
                self._matcher = PhraseMatcher(self._pipeline.vocab)
            names = [name for name in distinctive(self._waiting) if name not in self._known]
            for some in lots(names, NAMES_AT_ONCE):
                read = [_Pieces.of(name, self._pipeline) for name in some]
                for name, each in zip(some, read, strict=True):
                    known = KnownName(name, each.form(0, len(each.forms)), _what(name))
                    form = known.form.casefold()
                    self._named[form] = (*self._named.get(form, ()), known)
                    self._n_of[known.what] += 1
                # It keeps the names added before.
                self._matcher.add("name", [each.caseless(self._pipeline) for each in read])
            self._known.update(names)
            self._waiting.clear()
            return self._pipeline, self._matcher


class GraphLabels:
    """The label recogniser of a graph that grows: only new names are read."""

    def __init__(self, dataset_id: int, absent: "Absent") -> None:
        self._dataset, self._absent = dataset_id, absent
        self._reading = Lock()
        self._begin()

    def at(self, state: GraphState) -> LabelRecogniser:
        """Return the recogniser with the names of a state; three queries if it has changed."""
        with self._reading:
            if (self._n_entities, self._last) != (state.n_entities, state.last or 0):
                before = Entity.objects.filter(dataset=self._dataset, pk__lte=self._last)
                # Entities are only added, but one with a lower id may be committed after others.
                if before.count() != self._n_entities:
                    self._begin()
                self._read_on()
            return self._recogniser

    def _begin(self) -> None:
        self._recogniser = LabelRecogniser((), self._absent)
        self._n_entities = self._last = 0

    def _read_on(self) -> None:
        """Add the names of entities with ids above the last one that was read."""
        new = Entity.objects.filter(dataset=self._dataset, pk__gt=self._last)
        labels = dict(new.values_list("pk", "label").iterator(chunk_size=20_000))
        if not labels:
            return
        last = max(labels)
        aliases = Alias.objects.filter(
            entity__dataset=self._dataset, entity__gt=self._last, entity__lte=last
        )
        names = aliases.values_list("name", flat=True).iterator(chunk_size=20_000)
        self._recogniser.add([*labels.values(), *names])
        self._n_entities += len(labels)
        self._last = last


class Absent(NamedTuple):
    """The reason why there is no spaCy model."""

    why: str  # the reason, for the title
    problem: str = ""  # a sentence, if the settings are wrong


def cleaned(text: str, start: int, end: int, kind: str) -> Mention | None:
    """Return the name in characters `start` to `end` of a text; None if nothing is left.

    Quotation marks, white space and backslashes around a name are removed, and so is a possessive
    after it. An article before it stays, as in 'The Hague'.
    """
    behind = _BEHIND.search(text[start:end])
    end = start + behind.start() if behind else end
    before = _BEFORE.match(text, start, end)
    start = before.end() if before else start
    return Mention(text[start:end], start, end, kind) if start < end else None


def distinctive(names: Iterable[str]) -> list[str]:
    """Return the names that distinguish an entity from common words, each once, in Unicode NFC.

    These are left out: names of one character, names without a letter ('1974'), and names that
    consist of function words ('It', 'The Who').
    """
    from spacy.lang.en.stop_words import STOP_WORDS

    composed = dict.fromkeys(" ".join(unicodedata.normalize("NFC", name).split()) for name in names)
    return [
        name
        for name in composed
        if len(name) > 1
        and any(map(str.isalpha, name))
        and not all(word in STOP_WORDS for word in name.casefold().split())
    ]


def _what(name: str) -> str:
    """Return whether a name is PROPER or SMALL; a script without capitals counts as PROPER."""
    return PROPER if _has_capital(name) else SMALL


def _has_capital(name: str) -> bool:
    """Return whether a name has a letter that is not small: a capital, or of a caseless script."""
    return any(character.isalpha() and not character.islower() for character in name)


class _Pieces(NamedTuple):
    """A text in pieces of tokens, as which names are compared, without white space."""

    text: str
    places: list[tuple[int, int]]
    forms: list[str]  # in Unicode NFC, with straight apostrophes

    @classmethod
    def of(cls, text: str, pipeline: "Language") -> "_Pieces":
        places = [
            (token.idx + start, token.idx + end)
            for token in pipeline.make_doc(straight(text))
            if not token.is_space
            for start, end in pieces(token.text)
        ]
        read = [(place, folded(text[slice(*place)])) for place in places]
        kept = [(place, form) for place, form in read if form]
        return cls(text, [place for place, _ in kept], [form for _, form in kept])

    def form(self, start: int, end: int) -> str:
        return " ".join(self.forms[start:end])

    def caseless(self, pipeline: "Language") -> "Doc":
        """Return the pieces as a document for the matcher."""
        from spacy.tokens import Doc

        return Doc(pipeline.vocab, words=[form.casefold() for form in self.forms])

    def mention(self, found: FoundName) -> Mention:
        start, end = self.places[found.start][0], self.places[found.end - 1][1]
        typed = " ".join(self.text[start:end].split())
        return Mention(typed, start, end, "", found.names)


@lru_cache(maxsize=KEPT_GRAPHS)
def _labels(dataset_id: int, created_at: datetime, absent: Absent) -> GraphLabels:
    """Return the names that are kept for a dataset.

    The time of creation distinguishes the dataset from an earlier one with the same id.
    """
    return GraphLabels(dataset_id, absent)


@lru_cache(maxsize=1)
def _model(named: str) -> ModelRecogniser | Absent:
    """Return the model with a name or in a folder, loaded once per process, or why there is none.

    Messages do not contain the folder, because pages show them.
    """
    if not named:
        return Absent("the settings name no spaCy model")
    import spacy

    folder = Path(named)
    is_folder = folder.is_dir()
    try:
        version = _version_of(folder) if is_folder else f"{named}-{distribution(named).version}"
        return ModelRecogniser(spacy.load(folder if is_folder else named), version)
    except PackageNotFoundError:
        if len(folder.parts) == 1:
            return Absent(f"no spaCy model {named} is installed")
        why = "there is no such folder"
    except FileNotFoundError:
        why = "the folder holds no spaCy model"
    except (AttributeError, ImportError, KeyError, OSError, TypeError, ValueError) as exc:
        # Files of another version of spaCy, or of no model at all, may raise any of these.
        why = f"it cannot be loaded ({type(exc).__name__})"
    return Absent(
        "the spaCy model in the settings cannot be used",
        f"The spaCy model that ATTEST_SPACY_MODEL names cannot be used: {why}.",
    )


def _version_of(folder: Path) -> str:
    """Return name and version of the model in a folder, with a hash of all its files.

    Raises:
        FileNotFoundError: the folder holds no model.
    """
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content.update(f"{path.relative_to(folder).as_posix()}\n".encode())
        with path.open("rb") as file:
            content.update(hashlib.file_digest(file, "sha256").digest())
    name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
    return f"{name}-{meta.get('version', '')}-{content.hexdigest()[:8]}"
