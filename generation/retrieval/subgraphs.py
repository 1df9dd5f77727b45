"""The sub-graphs of a knowledge graph that a question needs (KaLMA, 3.1 and 3.2).

The steps are: names in the question → entities by label and alias → type filter → the best of
namesakes → its one-hop sub-graph. They are computed on request, with a fixed number of queries for
any number of questions. The result is the same each time for the same graph and recogniser.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from generation.batches import lots
from generation.models import Alias, Entity
from generation.models import Triple as TripleRow
from generation.retrieval.entities import Mention, label_recogniser_of, recogniser_of
from generation.retrieval.entity_rerank import Neighbourhood, RankedEntity, by_number, ranked
from generation.retrieval.entity_types import TypeCheck, entity_types
from generation.retrieval.graph_state import graph_state, hash_of
from generation.retrieval.name_spelling import straight, without_article
from generation.text.flat_graph import DOCUMENT_TEXT, Triple

MOST_NAMESAKES = 100  # entities for one mention; further ones are only counted
MOST_VALUES = 10_000  # values in one statement; SQLite accepts 32,766 by default
RULES = 2  # version of the rules of lookup and choice; a change of what is chosen raises it
_POSSESSIVE = re.compile(r"['’]s\b")


class Candidate(NamedTuple):
    """An entity that a mention may mean."""

    entity: int  # its id
    qid: str
    label: str
    type: str
    alias: str  # the alias that the mention matches; "" if it matches the label
    type_check: TypeCheck  # `unchecked`: the mention's kind is not mapped, or its type not listed
    score: int  # number of neighbours' labels in the question
    matched: tuple[str, ...]  # those labels
    n_triples: int  # number of triples with a value


class MentionSteps(NamedTuple):
    """The steps of one mention: its candidates, the likeliest first, dropped ones last."""

    mention: Mention
    candidates: tuple[Candidate, ...]
    n_not_shown: int = 0  # further entities with that name, which were not looked at

    @property
    def chosen(self) -> Candidate | None:
        """The likeliest candidate that the type filter does not drop."""
        return next((each for each in self.candidates if each.type_check != "dropped"), None)


class Retrieved(NamedTuple):
    """The entities that were found for one question, and the steps that led to them."""

    steps: tuple[MentionSteps, ...]  # in the order of the question
    qids: tuple[str, ...]  # qids of the chosen entities, each once


class SubgraphRetriever:
    """A retriever that finds entities of one dataset's graph in questions."""

    def __init__(self, dataset_id: int, *, is_by_labels: bool = False) -> None:
        """Choose what finds the names.

        Args:
            is_by_labels: whether the graph's own labels are searched for, even where a spaCy model
                is installed.

        Raises:
            Dataset.DoesNotExist: there is no such dataset.
        """
        state = graph_state(dataset_id)
        self._dataset = dataset_id
        choose = label_recogniser_of if is_by_labels else recogniser_of
        self._recogniser = choose(dataset_id, state)
        self.recogniser_title = self._recogniser.title
        self.recogniser_problem = self._recogniser.problem  # "" if there is none
        # All that changes what is found: recogniser, type mapping, rules, and hash of the graph.
        self.signature = "|".join(
            (
                self._recogniser.signature,
                entity_types().signature,
                f"rules:{RULES}",
                hash_of(dataset_id, state),
            )
        )

    def retrieved(self, questions: Sequence[str]) -> list[Retrieved]:
        """Return the entities that each question needs, in the order of the questions.

        This takes four queries, and more for more than 10,000 names.
        """
        spelt = [
            [(mention, _spellings(question, mention)) for mention in mentions]
            for question, mentions in zip(
                questions, self._recogniser.mentions(questions), strict=True
            )
        ]
        names = {name for each in spelt for _, spellings in each for name in spellings}
        named = _named(self._dataset, names)
        looked_at = [
            [_looked_at(mention, spellings, named) for mention, spellings in each] for each in spelt
        ]
        around = _neighbourhoods(
            {found.entity: found for each in looked_at for some in each for found in some.entities}
        )
        return [
            _retrieved(question, each, around)
            for question, each in zip(questions, looked_at, strict=True)
        ]


def subgraphs(dataset_id: int, qids: Collection[str]) -> dict[str, tuple[Triple, ...]]:
    """Return the one-hop sub-graph of each entity that exists, by qid, with two queries.

    The first triple is (qid, 'name', label). The others follow in the file's order, without those
    that have no value. The entities are in the order of `qids`.
    """
    return {qid: graph for qid, (graph, _) in _with_texts(dataset_id, qids).items()}


def shown_subgraphs(dataset_id: int, qids: Collection[str]) -> dict[str, tuple[Triple, ...]]:
    """Return `subgraphs` as models see them: a document node's text follows its triples."""
    return {
        qid: (*graph, (qid, DOCUMENT_TEXT, text)) if text.strip() else graph
        for qid, (graph, text) in _with_texts(dataset_id, qids).items()
    }


def _with_texts(
    dataset_id: int, qids: Collection[str]
) -> dict[str, tuple[tuple[Triple, ...], str]]:
    """Return the triples of each entity and its text, which is '' if it has none."""
    entities: dict[str, tuple[int, str, str]] = {}
    for some in lots(list(dict.fromkeys(qids)), MOST_VALUES):
        rows = Entity.objects.filter(dataset=dataset_id, qid__in=some)
        for qid, pk, label, text in rows.values_list("qid", "pk", "label", "text"):
            entities[qid] = pk, label, text
    stated = _stated(pk for pk, _, _ in entities.values())
    found: dict[str, tuple[tuple[Triple, ...], str]] = {}
    for qid in dict.fromkeys(qids):
        if qid in entities:
            pk, label, text = entities[qid]
            others = ((qid, relation, value) for relation, value in stated.get(pk, ()))
            found[qid] = ((qid, "name", label), *others), text
    return found


class _NamedEntity(NamedTuple):
    """An entity that has a name."""

    entity: int
    qid: str
    label: str
    type: str
    alias: str  # the name, if it is an alias; "" if it is the label


class _LookedAt(NamedTuple):
    """A mention, with the entities of its name whose neighbours are looked at."""

    mention: Mention
    entities: tuple[_NamedEntity, ...]
    n_not_shown: int


def _spellings(question: str, mention: Mention) -> list[str]:
    """Return the spellings of a mention to look up, in order of preference.

    The first has the possessive that follows the mention ('McDonald's'), the second is the mention
    unchanged, and the third has no article ('the Royal Navy'). So 'The Hague' is found unchanged if
    the graph has it. Then come the same with the other apostrophe, and the names in the graph that
    the recogniser has found.
    """
    possessive = _POSSESSIVE.match(question, mention.end)
    as_found = [
        f"{mention.text}{possessive[0]}" if possessive else "",
        mention.text,
        without_article(mention.text),
    ]
    straightened = [straight(name) for name in as_found]
    curled = [name.replace("'", "’") for name in straightened]
    spelt = (*as_found, *straightened, *curled, *mention.names)
    return list(dict.fromkeys(composed for name in spelt if (composed := _composed(name))))


def _composed(name: str) -> str:
    """Return a name in the form for comparison: trimmed and in Unicode NFC, and nothing fuzzier."""
    return unicodedata.normalize("NFC", name).strip()


def _named(dataset_id: int, names: Collection[str]) -> Mapping[str, Mapping[int, _NamedEntity]]:
    """Return the entities that have each name as label or alias, by id, with two queries."""
    named: dict[str, dict[int, _NamedEntity]] = defaultdict(dict)
    # The graph may hold composed or decomposed characters.
    spelt = sorted({form for name in names for form in _forms(name)})
    for some in lots(spelt, MOST_VALUES):
        rows = Entity.objects.filter(dataset=dataset_id, label__in=some)
        for row in rows.values_list("pk", "qid", "label", "type").iterator():
            named[_composed(row[2])][row[0]] = _NamedEntity(*row, alias="")
    fields = ("entity__pk", "entity__qid", "entity__label", "entity__type", "name")
    for some in lots(spelt, MOST_VALUES):
        # If this query named the dataset, SQLite would try every name with each of its entities,
        # which takes minutes.
        aliased = Alias.objects.filter(name__in=some).values_list("entity__dataset", *fields)
        for dataset, *row in aliased.iterator():
            if dataset == dataset_id:
                named[_composed(row[4])].setdefault(row[0], _NamedEntity(*row))
    return named


def _forms(name: str) -> tuple[str, str]:
    return name, unicodedata.normalize("NFD", name)


def _looked_at(
    mention: Mention, spellings: Sequence[str], named: Mapping[str, Mapping[int, _NamedEntity]]
) -> _LookedAt:
    """Return the entities of the first spelling that any entity has.

    If there are more than `MOST_NAMESAKES`, entities that the type filter does not drop come first,
    then those with lower numbers.
    """
    found = next((named[spelling] for spelling in spellings if spelling in named), {})
    check = entity_types().check
    likeliest = sorted(
        found.values(),
        key=lambda each: (
            check(mention.kind, each.type) == "dropped",
            by_number(each.qid),
        ),
    )
    entities = tuple(likeliest[:MOST_NAMESAKES])
    return _LookedAt(mention, entities, len(found) - len(entities))


def _neighbourhoods(found: Mapping[int, _NamedEntity]) -> dict[int, Neighbourhood]:
    """Return the neighbourhoods of entities, by id, with two queries."""
    names: dict[int, set[str]] = {pk: {entity.label} for pk, entity in found.items()}
    for some in lots(sorted(found), MOST_VALUES):
        rows = Alias.objects.filter(entity__in=some).values_list("entity", "name")
        for entity, name in rows.iterator():
            names[entity].add(name)
    stated = _stated(found)
    return {
        pk: Neighbourhood(
            entity.qid, frozenset(names[pk]), tuple(value for _, value in stated.get(pk, ()))
        )
        for pk, entity in found.items()
    }


def _stated(entities: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
    """Return relation and value of all triples of some entities that have a value; one query."""
    stated: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for some in lots(sorted(entities), MOST_VALUES):
        rows = TripleRow.objects.filter(subject__in=some).exclude(value="")
        ordered = rows.order_by("subject", "position").values_list("subject", "relation", "value")
        for subject, relation, value in ordered.iterator():
            if value.strip():
                stated[subject].append((relation, value))
    return stated


def _retrieved(
    question: str, looked_at: Sequence[_LookedAt], around: Mapping[int, Neighbourhood]
) -> Retrieved:
    """Return the ranked entities of each mention of a question, and the chosen ones."""
    steps = tuple(
        MentionSteps(each.mention, tuple(_candidates(question, each, around)), each.n_not_shown)
        for each in looked_at
    )
    chosen = (step.chosen for step in steps)
    return Retrieved(steps, tuple(dict.fromkeys(each.qid for each in chosen if each)))


def _candidates(
    question: str, looked_at: _LookedAt, around: Mapping[int, Neighbourhood]
) -> Iterator[Candidate]:
    """Yield the candidates of a mention, the likeliest first, those of another type last."""
    by_qid = {found.qid: found for found in looked_at.entities}
    in_order = ranked(question, [around[found.entity] for found in looked_at.entities])
    candidates = [
        _candidate(looked_at.mention, by_qid[each.neighbourhood.qid], each) for each in in_order
    ]
    yield from sorted(candidates, key=lambda each: each.type_check == "dropped")


def _candidate(mention: Mention, found: _NamedEntity, rank: RankedEntity) -> Candidate:
    return Candidate(
        entity=found.entity,
        qid=found.qid,
        label=found.label,
        type=found.type,
        alias=found.alias,
        type_check=entity_types().check(mention.kind, found.type),
        score=rank.score,
        matched=rank.matched,
        n_triples=len(rank.neighbourhood.neighbours),
    )
