"""Names of entities in questions: by a spaCy model, and by a graph's own labels and aliases."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from generation.retrieval import entities
from generation.retrieval.entities import Absent, LabelRecogniser, Mention, cleaned, recogniser_for
from generation.services.graphs import store_entities
from tests.generation.graph_rows import entity, graph_of
from tests.ruler_model import save_ruler_model

ABSENT = Absent("none is installed")


def found(names, question):
    """Return the names that the labels' own recogniser finds in a question."""
    (mentions,) = LabelRecogniser(names, ABSENT).mentions([question])
    assert all(question[each.start : each.end] == each.text for each in mentions)
    assert all(each.kind == "" for each in mentions)
    return [each.text for each in mentions]


# --- labels ---------------------------------------------------------------------------------


def test_the_longest_label_is_found_and_none_overlaps_another():
    names = ["Anne", "Anne Hathaway", "Hathaway", "Hathaway Shakespeare"]

    assert found(names, "Anne Hathaway met Anne.") == ["Anne Hathaway", "Anne"]


def test_labels_are_found_as_whole_tokens_in_their_own_case():
    assert found(["Rome"], "Romeo left Rome. ROME fell; Rome's walls (Rome).") == ["Rome"] * 3


@pytest.mark.parametrize(
    ("label", "question"),
    [
        ("Stratford-upon-Avon", "Who died in Stratford-upon-Avon?"),
        ("Warner Bros.", "Who signed with Warner Bros. Records?"),
        ("The Mamas & the Papas", "Who was in The Mamas & the Papas?"),
        ("Flannery O'Connor", "What did Flannery O'Connor's mother do?"),
        ("Sammy Davis Jr.", "Who was Sammy Davis Jr.?"),
        ("毛泽东", "Who was 毛泽东 ?"),
        ("U.S.", "Who ruled the U.S. then?"),
        ("AC\\DC", "Who is in AC\\DC?"),
        ("Cornelius (fl. 54)", "Who was Cornelius (fl. 54)?"),
    ],
)
def test_labels_with_punctuation_are_found(label, question):
    assert found([label], question) == [label]


def test_composed_and_decomposed_characters_are_the_same_name():
    composed = "Éamon de Valera"
    decomposed = unicodedata.normalize("NFD", composed)
    assert composed != decomposed

    assert found([composed], f"Who was {decomposed}?") == [decomposed]
    assert found([decomposed], f"Who was {composed}?") == [composed]


@pytest.mark.parametrize(
    ("label", "question", "typed"),
    [
        ("O'Brien", "Who is O’Brien?", "O’Brien"),
        ("O’Brien", "Who is O'Brien?", "O'Brien"),
        ("King's Lynn", "Where is King’s Lynn?", "King’s Lynn"),
        ("Ada Lovelace", "Was Ada  Lovelace born?", "Ada Lovelace"),
        ("Ada Lovelace", "Was Ada\nLovelace born?", "Ada Lovelace"),
        ("Ada Lovelace", "Was Ada\u00a0Lovelace born?", "Ada Lovelace"),
        ("Ada Lovelace", "ada lovelace was?", "ada lovelace"),
        ("Ada Lovelace", "WHO WAS ADA LOVELACE'S MOTHER", "ADA LOVELACE"),
        ("Fabry disease", "what is fabry disease?", "fabry disease"),
        ("Acme International Inc.", "is acme international inc. big?", "acme international inc."),
        ("Straße des 17. Juni", "STRASSE DES 17. JUNI?", "STRASSE DES 17. JUNI"),
        ("McDonald's", "a mcdonald’s menu", "mcdonald’s"),
        ("東京", "東京の人口は?", "東京"),
        ("李小龙", "李小龙什么时候出生?", "李小龙"),
        ("서울", "서울은 어디에 있나요?", "서울"),
        (
            "ガーナ",
            unicodedata.normalize("NFD", "ガーナの首都は?"),
            unicodedata.normalize("NFD", "ガーナ"),
        ),
        ("Ada Lovelace", "Ada Lovelace是谁?", "Ada Lovelace"),
        ("IBM", "IBM在哪里?", "IBM"),
    ],
)
def test_names_are_found_as_people_type_them(label, question, typed):
    [[mention]] = LabelRecogniser([label, "Rome"], ABSENT).mentions([question])

    assert (mention.text, mention.names) == (typed, (label,))
    assert " ".join(question[mention.start : mention.end].split()) == typed


@pytest.mark.parametrize(
    ("names", "question", "expected"),
    [
        # What is there in its own spelling is not looked for again without capitals.
        (["Rome"], "Rome, not rome.", ["Rome"]),
        # Its own spelling comes first, also where another name would be longer.
        (["Rome", "In Rome"], "Who died in Rome?", ["Rome"]),
        (["New York", "York"], "is new york old", ["new york"]),
        # Frequent words are names with their capitals only.
        (["Time", "Life", "Boston"], "At what time of his life was he in boston?", ["boston"]),
        (["Time", "Life"], "Who owned Time and LIFE?", ["Time", "LIFE"]),
        (["Ada"], "What is Adaptation? adab?", []),
        (["painter", "Ada", "Rome"], "Which Painter?", []),
        (["Don"], "I don't know.", []),
    ],
)
def test_capitals_are_looked_past_only_for_what_is_not_found_otherwise(names, question, expected):
    assert found(names, question) == expected


def test_what_is_no_name_is_not_looked_for():
    names = ["X", "7", "1974", "It", "The Who", "Will", "who", "painter", "Ada Lovelace", "Rome"]

    assert found(names, "Will the painter X Who saw It in 1974, who met Ada Lovelace?") == [
        "Ada Lovelace"
    ]


def test_a_graph_of_words_in_small_letters_has_those_as_names():
    names = ["aspirin", "insulin", "diabetes mellitus", "Parkinson's disease"]

    assert found(names, "Does aspirin help in diabetes mellitus?") == [
        "aspirin",
        "diabetes mellitus",
    ]


def test_the_same_name_twice_is_two_mentions():
    (mentions,) = LabelRecogniser(["Rome", "Rome"], ABSENT).mentions(["Rome or Rome?"])

    assert [(each.start, each.end) for each in mentions] == [(0, 4), (8, 12)]


def test_threads_that_ask_at_once_share_one_matcher():
    recogniser = LabelRecogniser([f"Name {n} Surname" for n in range(3000)], ABSENT)

    with ThreadPoolExecutor(4) as threads:
        asked = [
            threads.submit(lambda: list(recogniser.mentions(["Who is Name 7 Surname?"])))
            for _ in range(8)
        ]

    assert [[each.text for each in some] for each in asked for some in each.result()] == [
        ["Name 7 Surname"]
    ] * 8


def test_a_graph_without_entities_finds_nothing_in_any_text():
    assert found([], "Who was Ada Lovelace?") == []
    assert found(["Rome"], "") == []


LOVELACE = LabelRecogniser(["Ada Lovelace", "Ada", "Rome", "King's Lynn"], ABSENT)


@hypothesis_settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["Ada Lovelace", "Ada", "Rome", "King's Lynn", "'s", "x"])),
    st.lists(st.text(max_size=3)),
)
def test_mentions_stand_where_they_say_and_in_order(words, between):
    text = "".join(
        f"{word}{gap}" for word, gap in zip(words, [*between, *[" "] * len(words)], strict=False)
    )

    (mentions,) = LOVELACE.mentions([text])

    assert [text[each.start : each.end] for each in mentions] == [each.text for each in mentions]
    ends = [0, *(each.end for each in mentions)]
    assert all(end <= each.start for end, each in zip(ends, mentions, strict=False))


# --- a model --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start", "end", "name"),
    [
        ("Was Caracalla's reign", 4, 15, "Caracalla"),
        ("Was Caracalla’s reign", 4, 15, "Caracalla"),
        ("the parents' house", 0, 12, "the parents"),
        ('"Hamlet" by', 0, 8, "Hamlet"),
        ("“Hamlet”?", 0, 8, "Hamlet"),
        ("  Rome ", 0, 7, "Rome"),
        ("\\Rome\\", 0, 6, "Rome"),
        ("'s-Hertogenbosch fell", 0, 16, "'s-Hertogenbosch"),
        ("Warner Bros. signed", 0, 12, "Warner Bros."),
        ("the Royal Navy", 0, 14, "the Royal Navy"),  # its article may be its own
        ("'Rome's'", 0, 8, "Rome"),
    ],
)
def test_a_name_is_without_quotation_marks_and_possessives(text, start, end, name):
    mention = cleaned(text, start, end, "ORG")

    assert mention
    assert mention.text == name == text[mention.start : mention.end]


@pytest.mark.parametrize("text", ["'s", '""', "  ", "’"])
def test_nothing_is_left_of_marks_alone(text):
    assert cleaned(text, 0, len(text), "ORG") is None


@pytest.fixture
def ada(db):
    return graph_of([entity("Q7259", "Ada Lovelace", aliases=["Augusta Ada King"])])


@pytest.mark.both
def test_the_model_of_the_settings_says_what_kind_of_name_it_is(ada, settings, tmp_path):
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path / "model", {"Paris": "GPE"}))

    recogniser = recogniser_for(ada.pk)

    (mentions,) = recogniser.mentions(["Did Ada Lovelace see 'Paris'?"])
    assert mentions == [Mention("Paris", 22, 27, "GPE")]
    assert recogniser.title == "the spaCy model en_tests 0.0.0-" + recogniser.signature[-8:]
    assert recogniser.problem == ""


@pytest.mark.both
def test_the_signature_tells_models_apart_and_holds_no_folder(ada, settings, tmp_path):
    signatures = []
    for name, kinds in (("a", {"Paris": "GPE"}), ("b", {"Paris": "GPE"}), ("c", {"Rome": "GPE"})):
        settings.SPACY_MODEL = str(save_ruler_model(tmp_path / name, kinds))
        signatures.append(recogniser_for(ada.pk).signature)

    assert signatures[0] == signatures[1] != signatures[2]
    assert signatures[0].startswith("spacy:en_tests-0.0.0-")
    assert not any(str(tmp_path) in signature for signature in signatures)


@pytest.mark.both
def test_a_model_is_loaded_once_per_process(ada, settings, tmp_path):
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path / "model"))

    assert recogniser_for(ada.pk) is recogniser_for(ada.pk)


# --- no model -------------------------------------------------------------------------------


@pytest.mark.both
def test_without_an_installed_model_the_graph_s_own_labels_and_aliases_are_found(ada, settings):
    settings.SPACY_MODEL = "en_core_web_that_nobody_has"

    recogniser = recogniser_for(ada.pk)

    (mentions,) = recogniser.mentions(["Was Ada Lovelace called Augusta Ada King?"])
    assert [each.text for each in mentions] == ["Ada Lovelace", "Augusta Ada King"]
    assert recogniser.title == (
        "the graph’s own labels and aliases "
        "(no spaCy model en_core_web_that_nobody_has is installed)"
    )
    assert recogniser.problem == ""


@pytest.mark.both
@pytest.mark.parametrize(
    ("files", "why"),
    [
        (None, "there is no such folder"),
        ({}, "the folder holds no spaCy model"),
        ({"meta.json": "{}"}, "it cannot be loaded (ValueError)"),
        ({"meta.json": "{"}, "it cannot be loaded (JSONDecodeError)"),
        ({"meta.json": "[]"}, "it cannot be loaded (AttributeError)"),
        ({"meta.json": "{}", "config.cfg": "[nlp]\nlang = 'xx'"}, "it cannot be loaded"),
    ],
)
def test_a_wrong_folder_is_said_and_the_labels_stand_in(ada, settings, tmp_path, files, why):
    folder = tmp_path / "model"
    for name, text in (files or {}).items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    if files == {}:
        folder.mkdir()
    settings.SPACY_MODEL = str(folder)

    recogniser = recogniser_for(ada.pk)

    assert recogniser.problem.startswith(
        f"The spaCy model that ATTEST_SPACY_MODEL names cannot be used: {why}"
    )
    assert str(tmp_path) not in recogniser.title + recogniser.problem + recogniser.signature
    assert [[each.text for each in some] for some in recogniser.mentions(["Ada Lovelace?"])] == [
        ["Ada Lovelace"]
    ]


@pytest.mark.both
def test_the_labels_are_read_again_when_the_graph_has_grown(ada, django_assert_num_queries):
    before = recogniser_for(ada.pk)
    list(before.mentions(["Rome"]))

    with django_assert_num_queries(1):  # its state
        assert recogniser_for(ada.pk) is before
    store_entities(ada, [entity("Q220", "Rome")])

    (mentions,) = recogniser_for(ada.pk).mentions(["Was Ada Lovelace in Rome?"])
    assert [each.text for each in mentions] == ["Ada Lovelace", "Rome"]


@pytest.mark.both
def test_only_new_names_are_read_of_a_graph_that_has_grown(ada, monkeypatch):
    before = recogniser_for(ada.pk)
    list(before.mentions(["Rome"]))
    store_entities(ada, [entity("Q220", "Rome", aliases=["Ada Lovelace", "Roma"])])
    added = []
    monkeypatch.setattr(LabelRecogniser, "add", lambda _, names: added.extend(names))

    assert recogniser_for(ada.pk) is before
    assert added == ["Rome", "Ada Lovelace", "Roma"]


@pytest.mark.both
def test_an_entity_with_a_lower_number_that_comes_late_is_read_too(ada):
    store_entities(ada, [entity("Q220", "Rome"), entity("Q90", "Paris")])
    late = ada.entities.get(qid="Q220")
    names = {"label": late.label, "qid": late.qid, "digest": late.digest, "dataset": ada}
    number = late.pk
    late.delete()
    list(recogniser_for(ada.pk).mentions(["Was it Paris?"]))
    ada.entities.create(pk=number, **names)

    (mentions,) = recogniser_for(ada.pk).mentions(["Was it Rome or Paris?"])

    assert [each.text for each in mentions] == ["Rome", "Paris"]


@pytest.mark.parametrize(
    ("first", "more", "names"),
    [
        (["Rome", "Ada"], ["king", "Ada Lovelace", "Rome"], ["Ada Lovelace", "Rome", "Ada"]),
        # Two in small letters of three are names; of five they are not.
        (["king", "poet", "Rome"], ["Ada", "Troy"], ["Ada", "Rome", "Ada"]),
        # One of three is not; three of five are.
        (
            ["king", "Rome", "Ada"],
            ["poet", "smith"],
            ["Ada", "poet", "king", "Rome", "king", "Ada"],
        ),
    ],
)
def test_names_that_are_added_are_found_as_if_they_had_been_there(first, more, names):
    text = "Did Ada Lovelace, poet, meet the king of Rome, a king, and Ada?"
    grown = LabelRecogniser(first, ABSENT)
    list(grown.mentions([text]))

    grown.add(more)

    (mentions,) = grown.mentions([text])
    assert [each.text for each in mentions] == names == found([*first, *more], text)


@pytest.mark.both
def test_no_more_than_a_few_graphs_stay_in_memory(db):
    for number in range(entities.KEPT_GRAPHS + 2):
        recogniser_for(graph_of([entity("Q1", "Rome")], f"graph-{number}").pk)

    assert entities._labels.cache_info().currsize == entities.KEPT_GRAPHS
