"""Properties of the citations of any text, with any graph."""

import re
import unicodedata

from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.measures.authors_citation import authors_citations, count_as_authors, differences
from evaluation.measures.citation import (
    CitationVerdict,
    Mode,
    citation_figures,
    count_citations,
    judged,
)
from generation.text.citations import parse_citations, relation_name, without_citations
from generation.text.compared_triples import compared

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
MARKS = ",;:"

# Pieces of answers in any order, so that random texts meet the rules often.
PIECES = [
    *("[", "]", "Q1", "Q2", "m-1", "qid: ", "name: ", "NA", ", ", ",", ": ", ":", ";", ". ", " "),
    *("occupation", "date_of_birth", "date of birth", "painter", "child, adopted", "Re\u0301ne"),
    *("\n", "[NA]", "[1]", "[Q1, occupation: painter]", "[Q1, date of birth: 1593]", "[m-1]"),
    *("[Q2, date_of_birth: 1593]. ", "[Q2, child, adopted: R\u00e9ne]", "[Q1, name: Ada]"),
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join))
qids = st.sampled_from(["Q1", "Q2", "m-1", " Q1"])
facts = st.tuples(
    qids,
    st.sampled_from(["occupation", "date_of_birth", "date of birth", "child, adopted", "name"]),
    st.sampled_from(["painter", "1593", "R\u00e9ne", "Re\u0301ne", "painter ", "a: b", ""]),
)
triples = st.one_of(st.lists(facts), st.lists(st.tuples(st.text(), st.text(), st.text())))


def read(text, shown):
    return parse_citations(
        text, {relation for _, relation, _ in shown}, {qid for qid, _, _ in shown}
    )


@given(texts, triples, st.one_of(st.none(), triples))
def test_counts_of_any_answer_fit_together(text, shown, minimum):
    answer = read(text, shown)

    counts = count_citations(answer, shown, minimum)
    verdicts = [each.verdict for each in judged(answer, shown, minimum)]

    assert counts.n_hit <= counts.n_precise <= counts.n_correct <= counts.n_citations
    assert counts.n_hit <= (counts.n_minimum or 0)
    assert counts.n_citations == len(verdicts)
    assert counts.n_precise == verdicts.count(CitationVerdict.IN_MINIMUM)
    assert counts.n_correct - counts.n_precise == verdicts.count(CitationVerdict.CORRECT)
    assert counts.n_incomplete == verdicts.count(CitationVerdict.INCOMPLETE)
    for figure in citation_figures([counts]):
        assert not figure < 0
        assert not figure > 1


@given(texts, triples, st.one_of(st.none(), triples), st.one_of(st.none(), triples))
def test_the_published_code_reads_any_answer(text, shown, minimum, minimum_of_precision):
    answer = authors_citations(text)
    counts = count_as_authors(text, shown, minimum, minimum_of_precision)

    assert answer.n_na <= text.count("[NA]")
    assert all(relation and relation in text for _, relation, _ in answer.citations)
    if counts is None:
        assert not shown
        return
    assert counts.n_citations == len(answer.citations)
    assert max(counts.n_correct, counts.n_precise, counts.n_hit) <= counts.n_citations
    for figure in citation_figures([counts], Mode.AUTHORS_CODE):
        assert not figure < 0
        assert not figure > 1


@given(texts, triples, st.one_of(st.none(), triples), st.one_of(st.none(), triples))
def test_answers_without_a_difference_count_alike(text, shown, minimum, minimum_of_precision):
    answer = read(text, shown)

    reasons = differences(text, answer, shown, minimum, minimum_of_precision)
    here = count_citations(answer, shown, minimum)
    there = count_as_authors(text, shown, minimum, minimum_of_precision)

    assert reasons or there == here


# Written and read again


def is_read_again(value, relations):
    """Return whether a value can be told from what follows it in a bracket.

    Not so when a comma or semicolon in it is followed by a relation of the graph and a colon, or
    by what looks like a relation: lower case, and a colon that ends a word.
    """
    for found in re.finditer(r"(?<=[,;])([^,;:]+):(\s|$)?", value):
        name = found[1].strip()
        is_apart = found[2] is not None
        if relation_name(name) in relations or (is_apart and name[:1].islower()):
            return False
    return not value.endswith((",", ";"))


def plain(text):
    return unicodedata.normalize("NFC", text).strip()


inside = st.characters(exclude_characters=BREAKS + "[]")
relation_names = (
    st.one_of(
        st.sampled_from(["occupation", "date_of_birth", "place of birth", "Located in"]),
        st.text(st.characters(exclude_characters=BREAKS + MARKS + "[]"), min_size=1),
    )
    .map(plain)
    .filter(lambda name: relation_name(name) not in ("", "name", "qid"))
)
words = st.one_of(
    st.text(inside, min_size=1),
    st.text(inside).map(lambda word: f"[{word}]"),  # one deep: 'Order [first class]'
    st.sampled_from([", ", ": ", ",", ":", ";", " ", "A", "a", "occupation", "The Moon"]),
)
values = st.lists(words, min_size=1, max_size=6).map("".join).map(plain).filter(bool)
entities = st.one_of(
    st.integers(0, 10**9).map("Q{}".format),
    st.text(st.characters(exclude_characters=BREAKS + ",[]"), min_size=1)
    .map(plain)
    .filter(lambda qid: qid and not re.search(r"[;:]", qid)),
)


@given(
    st.dictionaries(
        entities,
        st.lists(st.tuples(relation_names, values), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    )
)
def test_citations_of_a_graph_are_read_as_they_were_written(graph):
    shown = [(qid, relation, value) for qid, said in graph.items() for relation, value in said]
    relations = {relation_name(relation) for _, relation, _ in shown}
    assume(all(is_read_again(value, relations) for _, _, value in shown))

    brackets = [
        f"[{', '.join([qid, *(f'{relation}: {value}' for relation, value in said)])}]"
        for qid, said in graph.items()
    ]
    text = "".join(f"It is so {bracket}. " for bracket in brackets)
    answer = read(text, shown)

    claims = [(each.qid, each.relation, each.value) for each in answer.citations]
    assert [*map(compared, claims)] == [*map(compared, shown)]
    assert {each.verdict for each in judged(answer, shown, shown)} == {CitationVerdict.IN_MINIMUM}
    assert without_citations(text, relations, set(graph)) == " ".join(["It is so."] * len(graph))


# Both modes

simple_facts = st.tuples(
    st.sampled_from(["Q1", "Q2"]),
    st.sampled_from(["occupation", "date_of_birth", "place of birth", "Located in"]),
    st.from_regex(r"[A-Z][a-z]{0,3}(,? [A-Z\u00c9][a-z]{0,3}|-[0-9]){0,3}", fullmatch=True),
)


@st.composite
def answers(draw):
    """Draw an answer that cites, repeats nothing, and is right; its graph; a minimum set."""
    shown = draw(st.lists(simple_facts, min_size=1, unique=True))
    cited = draw(st.lists(st.sampled_from(shown), min_size=1, unique=True))
    minimum = draw(st.one_of(st.none(), st.lists(st.sampled_from(shown), unique=True)))
    sentences = [f"It is so [{qid}, {name}: {value}]." for qid, name, value in cited]
    if draw(st.booleans()):  # several in one bracket
        of_one = [fact for fact in cited if fact[0] == cited[0][0]]
        rest = [f"[{qid}, {name}: {value}]" for qid, name, value in cited if qid != cited[0][0]]
        said = ", ".join(f"{name}: {value}" for _, name, value in of_one)
        sentences = [f"It is so. [{cited[0][0]}, {said}]", *rest]
    return " ".join(sentences), shown, minimum


@given(st.lists(answers(), min_size=1, max_size=5))
def test_both_modes_agree_when_all_cite_once_completely_and_right(corpus):
    here = [count_citations(read(text, shown), shown, minimum) for text, shown, minimum in corpus]
    there = [count_as_authors(*each) for each in corpus]

    assert there == here
    paper, code = (citation_figures(here), citation_figures(here, Mode.AUTHORS_CODE))
    assert [str(figure) for figure in paper] == [str(figure) for figure in code]
    for text, shown, minimum in corpus:
        assert differences(text, read(text, shown), shown, minimum) == []
