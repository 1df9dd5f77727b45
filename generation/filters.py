"""Eight filters that select good prompts, in the order of the trade-off paper (9.1).

Each filter keeps or drops an example. Its count is the number of examples that it dropped of those
that the filters before it had left. An example that a filter cannot judge (for example evidence
under 300 tokens, when there is no evidence) is kept, and it is counted as not applicable.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, NamedTuple

from generation.choices.declaration import Choice
from generation.records import TurnRecord
from generation.text.languages import function_words
from generation.text.tokens import TOKENIZERS, count_words, tokens, words_as_written

KEEP, DROP = "keep", "drop"
USER = "user"  # the name that readers give to the speaker who asks

# Words that ask but name no subject. 'US' is no pronoun: see `_content_words`.
_QUESTION_WORDS = "what who whom whose which when where why how"
# Words that fit any subject: 'Are there any other interesting aspects about this article?',
# 'Tell me more.', 'What happened next?' A question of these words alone names no subject.
_EMPTY_WORDS = """
    about after afterwards again all also another any anything article articles aspect aspects
    before besides detail details else ever fact facts find give happen happened happening happens
    important information interesting just know learn many more most much new next not notable
    other others please significant some something still story tell then thing things too topic
    well anyone someone very yes no so let may should shall might must
    t re ll ve m d
"""
EMPTY_WORDS = function_words().union(_QUESTION_WORDS.split(), _EMPTY_WORDS.split())
_ARTICLES = frozenset({"article", "articles"})


class FilterMaterial(NamedTuple):
    """The material of the filters: a dialog up to its user question, and its golden data."""

    turns: Sequence[TurnRecord]
    golden_answer: str | None
    golden_texts: Sequence[str]  # texts of the golden passages; empty: they are not known


class Filters(NamedTuple):
    """The filters that are on, and how two of them judge."""

    on: tuple[str, ...] = ()  # keys of FILTERS in any order
    max_evidence_tokens: Annotated[
        int,
        Choice(
            "Fewer tokens than",
            help="This number is for the filter “short golden evidence”.",
            low=1,
            high=10**6,
        ),
    ] = 300
    tokenizer: Annotated[
        str, Choice("Counted by", {name: name.replace("-", " ") for name in TOKENIZERS})
    ] = "white-space"
    exact_match: Annotated[
        str,
        Choice(
            "Exact matches are",
            {KEEP: "kept, all others dropped", DROP: "dropped, all others kept"},
            help="The last filter keeps either the examples whose golden answer is in the evidence "
            "word by word, or the others.",
        ),
    ] = KEEP

    @property
    def parameters(self) -> dict[str, Any]:
        """These choices as they are stored in JSON."""
        return {
            "on": [rule.key for rule in FILTERS if rule.key in self.on],
            "max_evidence_tokens": self.max_evidence_tokens,
            "tokenizer": self.tokenizer,
            "exact_match": self.exact_match,
        }


class FilterOutcome(Enum):
    """The verdict of one filter about one example."""

    KEPT = "kept"
    DROPPED = "dropped"
    NOT_APPLICABLE = "not applicable"  # kept, because there is nothing to judge it by


class FilterRule(NamedTuple):
    """One filter: its name, its explanation, and the function that judges."""

    key: str
    title: str  # names what the filter keeps
    help: str
    judge: Callable[[FilterMaterial, Filters], FilterOutcome]


# --- the filters ----------------------------------------------------------------------------


def _has_history(material: FilterMaterial, _: Filters) -> FilterOutcome:
    return _kept_if(len(material.turns) > 1)


def _odd_turns(material: FilterMaterial, _: Filters) -> FilterOutcome:
    return _kept_if(_n_turns_of_branch(material.turns) % 2 == 1)


def _no_question_after_question(material: FilterMaterial, _: Filters) -> FilterOutcome:
    is_user = [turn.speaker.lower() == USER for turn in material.turns]
    answered = ((index, turn.parent) for index, turn in enumerate(material.turns))
    return _kept_if(
        not any(parent >= 0 and is_user[index] and is_user[parent] for index, parent in answered)
    )


def _long_answer(material: FilterMaterial, _: Filters) -> FilterOutcome:
    return _kept_if(count_words(material.golden_answer or "") > 1)


def _short_evidence(material: FilterMaterial, filters: Filters) -> FilterOutcome:
    if not material.golden_texts:
        return FilterOutcome.NOT_APPLICABLE
    count = TOKENIZERS[filters.tokenizer]
    return _kept_if(sum(map(count, material.golden_texts)) < filters.max_evidence_tokens)


def _not_underspecified(material: FilterMaterial, _: Filters) -> FilterOutcome:
    return _kept_if(any(_content_words(last_question(material.turns))))


def _no_article(material: FilterMaterial, _: Filters) -> FilterOutcome:
    return _kept_if(_ARTICLES.isdisjoint(tokens(last_question(material.turns))))


def _exact_match(material: FilterMaterial, filters: Filters) -> FilterOutcome:
    answer = _plain(material.golden_answer or "")
    if not answer or not material.golden_texts:
        return FilterOutcome.NOT_APPLICABLE
    is_match = any(answer in _plain(text) for text in material.golden_texts)
    return _kept_if(is_match == (filters.exact_match == KEEP))


FILTERS = (
    FilterRule(
        "has-history", "has history", "At least one turn before the user question.", _has_history
    ),
    FilterRule(
        "odd-turns",
        "well-formed number of turns",
        "The number of turns is odd, including the user question: question, answer, question.",
        _odd_turns,
    ),
    FilterRule(
        "no-question-after-question",
        "no question after question",
        "No turn of the user follows another turn of the user.",
        _no_question_after_question,
    ),
    FilterRule(
        "long-answer",
        "golden answer longer than one word",
        "Two words or more. An unknown answer has no words.",
        _long_answer,
    ),
    FilterRule(
        "short-evidence",
        "short golden evidence",
        "All golden passages together have fewer tokens than the number below.",
        _short_evidence,
    ),
    FilterRule(
        "not-underspecified",
        "no underspecified question",
        "The user question names something. For example, “What else happened?” names nothing.",
        _not_underspecified,
    ),
    FilterRule(
        "no-article",
        "last turn does not mention “article”",
        "A question about “the article” is about a page that the dialog does not name.",
        _no_article,
    ),
    FilterRule(
        "exact-match",
        "golden answer is in the evidence",
        "One golden passage contains it word by word. You can also choose the opposite.",
        _exact_match,
    ),
)
FILTER_KEYS = tuple(rule.key for rule in FILTERS)
ALL_ON = Filters(on=FILTER_KEYS)


def filters_of(parameters: Mapping[str, Any]) -> Filters:
    """Return the choices whose stored form (`Filters.parameters`) is given."""
    return Filters(
        on=tuple(parameters["on"]),
        max_evidence_tokens=parameters["max_evidence_tokens"],
        tokenizer=parameters["tokenizer"],
        exact_match=parameters["exact_match"],
    )


def last_question(turns: Iterable[TurnRecord]) -> str:
    """Return the user's last turn. If there is none, return an empty text."""
    asked = [turn.text for turn in turns if turn.speaker.lower() == USER]
    return asked[-1] if asked else ""


def _n_turns_of_branch(turns: Sequence[TurnRecord]) -> int:
    """Return how many turns lead to the last one, itself included, without other branches."""
    n, place = 0, len(turns) - 1
    while place >= 0:
        n, place = n + 1, turns[place].parent
    return n


def _kept_if(is_good: bool) -> FilterOutcome:
    return FilterOutcome.KEPT if is_good else FilterOutcome.DROPPED


def _content_words(question: str) -> list[str]:
    """Return the words that name the subject of a question.

    In a question that is not all in capitals, a word of two or more capitals is a name: the 'US' of
    'What about in the US?' is not 'us'. Every word with a digit counts as a name too.
    """
    words = words_as_written(question)
    shouts = question.isupper()
    return [
        word
        for word in words
        if word.lower() not in EMPTY_WORDS or (word.isupper() and len(word) > 1 and not shouts)
    ]


def _plain(text: str) -> str:
    """Return a text in one Unicode form, with single spaces. 'Exact' ignores nothing else."""
    return " ".join(unicodedata.normalize("NFC", text).split())


# --- counting -------------------------------------------------------------------------------


class Cascade:
    """Filters that are applied one after the other, with counts of what each has dropped."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters
        self._rules = [rule for rule in FILTERS if rule.key in filters.on]
        self._n = 0
        self._n_dropped = dict.fromkeys(FILTER_KEYS, 0)
        self._n_not_applicable = dict.fromkeys(FILTER_KEYS, 0)

    def passes(self, material: FilterMaterial) -> bool:
        """Count one example, and return whether every filter keeps it."""
        self._n += 1
        for rule in self._rules:
            outcome = rule.judge(material, self._filters)
            self._n_not_applicable[rule.key] += outcome is FilterOutcome.NOT_APPLICABLE
            if outcome is FilterOutcome.DROPPED:
                self._n_dropped[rule.key] += 1
                return False
        return True

    def counts(self) -> dict[str, Any]:
        """Return the table of the filters' counts as it is stored, see `generation.models.Sample`.

        A filter is not applicable when it could judge none of the examples that reached it.
        """
        rows = []
        n_left = self._n
        for rule in FILTERS:
            n_reached, key = n_left, rule.key
            n_left -= self._n_dropped[key]
            rows.append(
                {
                    "filter": key,
                    "is_on": key in self._filters.on,
                    "is_applicable": not n_reached or self._n_not_applicable[key] < n_reached,
                    "n_not_applicable": self._n_not_applicable[key],
                    "n_dropped": self._n_dropped[key],
                    "n_left": n_left,
                }
            )
        return {"n": self._n, "rows": rows}


class CascadeRow(NamedTuple):
    """One line of the table: a filter and its counts. `share` is the share of all that is left."""

    rule: FilterRule
    is_on: bool
    is_applicable: bool
    n_not_applicable: int
    n_dropped: int
    n_left: int
    share: float | None  # in [0, 1]; None: there was no example at all

    @property
    def has_judged(self) -> bool:
        """Whether its counts are meaningful: the filter is on, and it could judge something."""
        return self.is_on and self.is_applicable

    @property
    def percent(self) -> float | None:
        return None if self.share is None else 100 * self.share


def cascade_rows(counts: Mapping[str, Any]) -> list[CascadeRow]:
    """Return the lines of a stored table, each with its filter and its share of all examples."""
    rules = {rule.key: rule for rule in FILTERS}
    n = counts.get("n", 0)
    return [
        CascadeRow(
            rules[row["filter"]],
            row["is_on"],
            row["is_applicable"],
            row["n_not_applicable"],
            row["n_dropped"],
            row["n_left"],
            row["n_left"] / n if n else None,
        )
        for row in counts.get("rows", ())
    ]
