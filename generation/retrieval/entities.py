"""Names of entities in questions, found by spaCy: a trained model, or the graph's own labels.

spaCy is loaded when a question is first read, never when the site starts.
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
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from django.conf import settings

from generation.batches import lots
from generation.models import Alias, Entity
from generation.retrieval.graph_state import GraphState, graph_state

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc

KEPT_GRAPHS = 2  # per process: a matcher takes 70 MB for 50,000 names
NAMES_AT_ONCE = 1_000  # as documents, which take kilobytes each
PROPER, SMALL = "proper", "small"  # a name that has a capital, and one in small letters
RULES = 1  # of the graph's own labels; a change of what they find counts on
# An apostrophe at the front belongs to some names: 's-Hertogenbosch, 't Hooft.
_BEFORE = re.compile(r"""(?:[\s"“”„«»\u2018`\\]|'(?!s-|t\s))+""")
_BEHIND = re.compile(r"""(?:['’]s\b|[\s"“”„«»'’`\\])+$""")


class Mention(NamedTuple):
    """A name in a question: characters `start` to `end` of it."""

    text: str
    start: int
    end: int
    kind: (
        str  # what the recogniser calls it: 'PERSON', 'GPE'; "" where only the graph's labels tell
    )


class Recogniser(Protocol):
    """Anything that finds names in texts."""

    signature: str  # all that changes what it finds: 'spacy:en_core_web_sm-3.8.0', 'labels:1'
    title: str  # the same for people, who read 'Names are found by …'
    problem: str  # why it is not the one that the settings ask for; "" when it is, or may be

    def mentions(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the names in each text, in order; none overlaps another."""
        ...


def recogniser_for(dataset_id: int) -> Recogniser:
    """Return the spaCy model that the settings name, where it is installed; else the labels' own.

    Kept in memory; of a graph that has grown only the new names are read. A model that the settings
    name and that cannot be used is the labels' `problem`, not an error.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    return recogniser_of(dataset_id, graph_state(dataset_id))


def has_model() -> bool:
    """Return whether the spaCy model that the settings name is installed and can be used."""
    return isinstance(_model(settings.SPACY_MODEL), ModelRecogniser)


def recogniser_of(dataset_id: int, state: GraphState) -> Recogniser:
    """Return the recogniser for a graph whose state is known already."""
    named: str = settings.SPACY_MODEL
    found = _model(named)
    if isinstance(found, ModelRecogniser):
        return found
    return _labels(dataset_id, state.created_at, found).at(state)


class ModelRecogniser:
    """A trained spaCy pipeline, with all that it consists of."""

    problem = ""

    def __init__(self, pipeline: "Language", version: str) -> None:
        self._pipeline = pipeline
        name, _, number = version.partition("-")
        self.signature = f"spacy:{version}"
        self.title = f"the spaCy model {name} {number}"

    def mentions(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the entities of each text, without quotation marks and possessives around them.

        What lies beyond the most that spaCy reads at once (a million characters) is not read.
        """
        read = (text[: self._pipeline.max_length] for text in texts)
        for doc in self._pipeline.pipe(read):
            found = (
                cleaned(doc.text, ent.start_char, ent.end_char, ent.label_) for ent in doc.ents
            )
            yield [mention for mention in found if mention]


class LabelRecogniser:
    """The labels and aliases of one graph, as whole tokens; the longest first, none overlaps."""

    signature = f"labels:{RULES}"

    def __init__(self, names: Iterable[str], absent: "Absent") -> None:
        self.title = f"the graph’s own labels and aliases ({absent.why})"
        self.problem = absent.problem
        self._waiting = list(names)  # for a text to be read
        self._n_of = Counter[str]()  # names by what they are, each once: SMALL or PROPER
        self._known: set[str] = set()
        self._matcher: PhraseMatcher | None = None
        self._pipeline: Language | None = None
        self._building = Lock()  # a site's threads may ask at once

    def add(self, names: Iterable[str]) -> None:
        """Look for further names as well, as if they had been given with the others."""
        with self._building:
            self._waiting += names

    def mentions(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the labels that each text holds; what they name is not known, so kind is ""."""
        from spacy.util import filter_spans

        pipeline, matcher = self._ready()
        looked_for = self._looked_for
        for text in texts:
            doc = pipeline.make_doc(text[: pipeline.max_length])
            found = [
                doc[start:end]
                for what, start, end in matcher(_composed(doc))
                if doc.vocab.strings[what] in looked_for
            ]
            yield [
                Mention(span.text, span.start_char, span.end_char, "")
                for span in filter_spans(found)
            ]

    @property
    def _looked_for(self) -> Collection[str]:
        """Names in small letters are common words, unless at least half of all are."""
        return (PROPER,) if self._n_of[PROPER] > self._n_of[SMALL] else (PROPER, SMALL)

    def _ready(self) -> tuple["Language", "PhraseMatcher"]:
        """Return tokenizer and matcher, with all names that wait when a text is read."""
        import spacy
        from spacy.matcher import PhraseMatcher

        with self._building:
            if self._pipeline is None or self._matcher is None:
                self._pipeline = spacy.blank("en")
                self._matcher = PhraseMatcher(self._pipeline.vocab)
            names = [name for name in distinctive(self._waiting) if name not in self._known]
            for some in lots(names, NAMES_AT_ONCE):
                for what, of_them in groupby(sorted(some, key=_what), _what):
                    docs = [self._pipeline.make_doc(name) for name in of_them]
                    self._matcher.add(what, docs)  # adds to those before
                    self._n_of[what] += len(docs)
            self._known.update(names)
            self._waiting.clear()
            return self._pipeline, self._matcher


class GraphLabels:
    """The recogniser of a graph's labels while the graph grows: only what is new is read."""

    def __init__(self, dataset_id: int, absent: "Absent") -> None:
        self._dataset, self._absent = dataset_id, absent
        self._reading = Lock()
        self._begin()

    def at(self, state: GraphState) -> LabelRecogniser:
        """Return the recogniser with the names of a state; three queries if it is another one."""
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
        """Add the names of entities behind the last one."""
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
    """Why there is no spaCy model."""

    why: str  # for the title
    problem: str = ""  # a sentence, where the settings are wrong


def cleaned(text: str, start: int, end: int, kind: str) -> Mention | None:
    """Return what is named by characters `start` to `end` of a text; None where nothing is left.

    Quotation marks, white space and backslashes around a name are no part of it, nor is a
    possessive behind it. An article before it stays: 'The Hague' is called so.
    """
    behind = _BEHIND.search(text[start:end])
    end = start + behind.start() if behind else end
    before = _BEFORE.match(text, start, end)
    start = before.end() if before else start
    return Mention(text[start:end], start, end, kind) if start < end else None


def distinctive(names: Iterable[str]) -> list[str]:
    """Return the names that tell an entity from common words, each once, composed.

    Left out: names of one character, names without a letter ('1974'), and names of function words
    alone ('It', 'The Who').
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
    """Return what a name is; scripts without capitals count as having them."""
    return PROPER if _has_capital(name) else SMALL


def _has_capital(name: str) -> bool:
    """Return whether a name has a letter that is not small: a capital, or of a caseless script."""
    return any(character.isalpha() and not character.islower() for character in name)


def _composed(doc: "Doc") -> "Doc":
    """Return a text with the same tokens, each composed as labels are."""
    from spacy.tokens import Doc

    if unicodedata.is_normalized("NFC", doc.text):
        return doc
    words = [unicodedata.normalize("NFC", token.text) for token in doc]
    return Doc(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])


@lru_cache(maxsize=KEPT_GRAPHS)
def _labels(dataset_id: int, created_at: datetime, absent: Absent) -> GraphLabels:
    """Return what is kept of a dataset's names; the moment tells it from an earlier one."""
    return GraphLabels(dataset_id, absent)


@lru_cache(maxsize=1)
def _model(named: str) -> ModelRecogniser | Absent:
    """Return the model of a name or a folder, loaded once per process, or why there is none.

    No message holds the folder: pages show it.
    """
    import spacy

    if not named:
        return Absent("no spaCy model is asked for")
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
        # The files of some other version of spaCy, or of no model at all, fail in any of these.
        why = f"it cannot be loaded ({type(exc).__name__})"
    return Absent(
        "the spaCy model of the settings cannot be used",
        f"The spaCy model that ATTEST_SPACY_MODEL names cannot be used: {why}.",
    )


def _version_of(folder: Path) -> str:
    """Return name and version of the model in a folder, with a hash of all its files.

    Raises:
        FileNotFoundError: it is no model.
    """
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content.update(f"{path.relative_to(folder).as_posix()}\n".encode())
        with path.open("rb") as file:
            content.update(hashlib.file_digest(file, "sha256").digest())
    name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
    return f"{name}-{meta.get('version', '')}-{content.hexdigest()[:8]}"
