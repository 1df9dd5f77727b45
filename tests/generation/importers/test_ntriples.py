"""N-Triples: Wikidata's shape and any other graph; what is left out is counted, nothing is held."""

import gzip
import random
import zipfile

import pytest

from generation.importers import DatasetError, open_material, rdf_store, recognise
from generation.importers.ntriples import LINES_AT_ONCE
from generation.records import EntityRecord, EntityTriple, Problem
from tests.wikidata_shape import by_hand, interchange_rows, ntriples, world

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ALIAS = "<http://www.w3.org/2004/02/skos/core#altLabel>"
A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
CLAIM = "<http://wikiba.se/ontology#directClaim>"
EX = "http://example.org/"
KNOWS = f"<{EX}Ada> <{EX}knows> <{EX}Mary> ."
NAMED = [f'<{EX}{name}> {LABEL} "{name} S." .' for name in ("Ada", "Mary")]


def read(tmp_path, *lines):
    path = tmp_path / "graph.nt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with open_material(path) as material:
        assert material.format == "ntriples"
        return material, list(material.records("entities"))


# --- Wikidata's shape -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def wikidata(tmp_path_factory):
    """More than 10,000 triples: the material after reading, and the entities by qid."""
    path = tmp_path_factory.mktemp("wikidata") / "world.nt.gz"
    path.write_bytes(gzip.compress("".join(ntriples(world())).encode()))
    with open_material(path) as material:
        rows = list(material.records("entities"))
    entities = {row.qid: row for row in rows if isinstance(row, EntityRecord)}
    assert len(entities) == len(rows)
    return material, entities


def test_a_wikidata_graph_has_the_entities_that_it_was_made_from(wikidata):
    """They are those of the maker, apart from titles in Italian and things that are only named."""
    _, entities = wikidata
    expected = {row["qid"]: row for row in interchange_rows(world()) if row["triples"]}

    assert entities.keys() == expected.keys()
    for qid, row in expected.items():
        found = entities[qid]
        stated = {
            EntityTriple(each["relation"], each["value"], each.get("value_qid", ""))
            for each in row["triples"]
            if each["value"] != "Giuditta che decapita Oloferne"
        }
        assert set(found.triples) == stated, qid
        assert (found.label, found.type) == (row["label"], row["type"])
        assert sorted(found.aliases) == row["aliases"]


def test_namesakes_are_two_entities_with_values_by_name_and_qid(wikidata):
    _, entities = wikidata
    actress, wife = entities["Q36301"], entities["Q232478"]

    assert actress.label == wife.label == "Anne Hathaway"
    assert actress.triples[:2] == (
        EntityTriple("instance of", "human", "Q5"),
        EntityTriple("sex or gender", "female", "Q6581072"),
    )
    assert EntityTriple("date of birth", "1982-11-12", "") in actress.triples
    assert EntityTriple("spouse", "William Shakespeare", "Q692") in wife.triples
    assert wife.aliases == ("Anne Shakespeare", "Shakespeare's wife")


def test_dates_before_christ_end_before_their_t_and_keep_their_sign(wikidata):
    _, entities = wikidata

    assert EntityTriple("date of birth", "-0384-01-01", "") in entities["Q868"].triples


def test_a_value_without_an_english_name_is_its_qid(wikidata):
    _, entities = wikidata

    assert EntityTriple("place of birth", "Q1000010", "Q1000010") in entities["Q868"].triples


def test_what_a_wikidata_graph_has_besides_is_left_out_and_counted(wikidata):
    material, _ = wikidata
    nodes = world()
    others = [language for node in nodes for language, _ in node.other_labels if language != "en"]
    said = [statement for node in nodes for statement in node.statements]
    n_properties = sum(1 for line in ntriples([]) if "directClaim" in line)

    assert material.n_left_out == {
        # each property says that it is one, its claim and its type; each item that it is one,
        # and those with statements have a description
        "triples of Wikidata's own records (pages, statement nodes, versions, descriptions)": (
            3 * n_properties + len(nodes) + sum(1 for node in nodes if node.statements)
        ),
        "names in other languages": len(others) + n_properties,
        "values in other languages": 1,
        "triples with a blank node": 1,
        "identifiers elsewhere and files": sum(pid in ("P214", "P18") for pid, _ in said),
        "things that have a name but no triple": sum(
            1 for node in nodes if node.label and not node.statements
        ),
    }


def test_scattered_lines_give_the_same_entities(tmp_path):
    lines = [line.rstrip("\n") for line in ntriples(by_hand())]
    _, in_order = read(tmp_path, *lines)
    random.Random(3).shuffle(lines)

    _, scattered = read(tmp_path, *lines)

    def content(rows):
        return {(row.qid, row.label, row.type, frozenset(row.triples)) for row in rows}

    assert content(scattered) == content(in_order)


def test_more_iris_than_are_remembered_change_nothing(tmp_path, monkeypatch):
    lines = [line.rstrip("\n") for line in ntriples(by_hand())]
    _, expected = read(tmp_path, *lines)
    monkeypatch.setattr(rdf_store, "MOST_REMEMBERED", 3)

    assert read(tmp_path, *lines)[1] == expected


def test_pages_and_statement_nodes_of_a_dump_are_no_entities(tmp_path):
    about, schema = "<http://schema.org/about>", "http://schema.org/"
    data = "<https://www.wikidata.org/wiki/Special:EntityData/Q1>"
    page = "<https://en.wikipedia.org/wiki/Ada>"
    node = f"<{WD}statement/Q1-1234>"

    material, (ada,) = read(
        tmp_path,
        f"{data} {about} <{WD}Q1> .",
        f'{data} <{schema}version> "7" .',
        f"{page} {A} <{schema}Article> .",
        f"{page} {about} <{WD}Q1> .",
        f'<{WD}Q1> {LABEL} "Ada"@en .',
        f'<{WD}Q1> <{schema}description> "mathematician"@en .',
        f"<{WD}Q1> <http://www.wikidata.org/prop/P31> {node} .",
        f"{node} {A} <http://wikiba.se/ontology#Statement> .",
        f"{node} <http://www.wikidata.org/prop/statement/P31> <{WD}Q5> .",
        f"<{WD}Q1> <{WDT}P31> <{WD}Q5> .",
    )

    assert ada.triples == (EntityTriple("P31", "Q5", "Q5"),)  # nothing names the property
    assert ada.type == "Q5"
    assert sum(material.n_left_out.values()) == 8


# --- any graph ------------------------------------------------------------------------------


def test_any_graph_is_read_by_the_ends_of_its_iris(tmp_path):
    _, (ada, london) = read(
        tmp_path,
        "# a comment, and a blank line",
        "",
        f"<{EX}Ada> {A} <{EX}voc#Person> .",
        f"<{EX}Ada> <{EX}voc#bornIn> <{EX}London> .",
        f'<{EX}Ada> <{EX}voc#age> "36"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        f"<{EX}Ada> <{EX}voc#homepage> <http://ada.test/> .",
        f'<{EX}London> {LABEL} "London" .',
        f"<{EX}London> <{EX}voc#in> <{EX}England> .",
    )

    assert (ada.qid, ada.label, ada.where.line) == ("Ada", "Ada", 3)
    assert ada.type == "Person"
    assert ada.triples == (
        EntityTriple("type", "Person", ""),  # nothing in the file begins like its IRI
        EntityTriple("bornIn", "London", "London"),
        EntityTriple("age", "36", ""),
        EntityTriple("homepage", "http://ada.test/", ""),
    )
    assert london.triples == (EntityTriple("in", "England", "England"),)


def test_a_relation_is_named_by_a_label_of_its_predicate(tmp_path):
    material, (ada,) = read(tmp_path, f'<{EX}knows> {LABEL} "is a friend of" .', KNOWS)

    assert ada.triples == (EntityTriple("is a friend of", "Mary", "Mary"),)
    assert material.notes == {"entities without an English name, named by their qid": 1}


@pytest.mark.parametrize(
    ("names", "label", "aliases"),
    [
        (['"Ada"@de', '"Ada L."', '"Ada Lovelace"@en'], "Ada Lovelace", ("Ada L.",)),
        (['"Ada Gordon"@en-GB', '"Ada"@en', '"Lady"@en'], "Ada", ("Ada Gordon", "Lady")),
        (['"Ada Byron"@en-gb', '"Ada"@mul'], "Ada Byron", ("Ada",)),
        (['"Ada"@mul', '" "@en'], "Ada", ()),
        (['"Ada"@de', '"Aḍa"@ar'], "Ada_L", ()),
        ([], "Ada_L", ()),
    ],
)
def test_the_english_label_comes_first_and_further_names_are_aliases(
    tmp_path, names, label, aliases
):
    lines = [f"<{EX}Ada_L> {LABEL} {name} ." for name in names]

    _, (ada,) = read(tmp_path, *lines, f"<{EX}Ada_L> <{EX}voc#born> <{EX}London> .")

    assert (ada.label, ada.aliases) == (label, aliases)


def test_a_label_is_preferred_to_a_preferred_name_and_both_to_the_qid(tmp_path):
    lines = [
        f'<{EX}Ada> <http://schema.org/name> "Ada, by name"@en .',
        f'<{EX}Ada> <http://www.w3.org/2004/02/skos/core#prefLabel> "Ada, preferred" .',
    ]
    _, (without,) = read(tmp_path, *lines, KNOWS)
    _, (with_one,) = read(tmp_path, *lines, f'<{EX}Ada> {LABEL} "Ada" .', KNOWS)

    assert without.label == "Ada, preferred"
    assert with_one.label == "Ada"
    assert with_one.aliases == ("Ada, by name", "Ada, preferred")


def test_two_iris_with_one_end_are_a_problem_that_says_both(tmp_path):
    _, (problem, ada, mary) = read(
        tmp_path,
        KNOWS,
        f"<{EX}Mary> <{EX}knows> <{EX}Ada> .",
        f"<{EX}other/Ada> <{EX}knows> <{EX}Mary> .",
        f"<{EX}Mary> <{EX}knows> <{EX}other/Ada> .",
    )

    assert str(problem) == (
        f"graph.nt, line 3: found {EX}other/Ada; expected another end than that of {EX}Ada (line 1)"
    )
    assert ada.triples == (EntityTriple("knows", "Mary", "Mary"),)
    assert mary.triples == (  # no value refers to the ambiguous one
        EntityTriple("knows", "Ada", "Ada"),
        EntityTriple("knows", f"{EX}other/Ada", ""),
    )


def test_blank_nodes_other_languages_and_repeats_are_left_out_and_counted(tmp_path):
    material, (ada,) = read(
        tmp_path,
        KNOWS,
        KNOWS,
        f"_:b1 <{EX}knows> <{EX}Ada> .",
        f"<{EX}Ada> <{EX}knows> _:b1 .",
        f"<{EX}Ada> <{EX}knows> <http://w/.well-known/genid/f00> .",
        f'<{EX}Ada> <{EX}motto> "Immer"@de .',
        f'<{EX}Ada> <{EX}motto> "Always"@en .',
        f'<{EX}Ada> <{EX}motto> "" .',
        f'<{EX}Ada> {ALIAS} "Ada"@fr .',
        f'<{EX}Eve> {LABEL} "Eve"@en .',
        f"<{EX}motto> {A} <{EX}Property> .",
    )

    assert ada.triples == (
        EntityTriple("knows", "Mary", "Mary"),
        EntityTriple("motto", "Always", ""),
    )
    assert material.n_left_out == {
        "triples with a blank node": 3,
        "repeated triples": 1,
        "values in other languages": 1,
        "empty values": 1,
        "names in other languages": 1,
        "things that have a name but no triple": 1,
        "triples that describe relations": 1,
    }


def test_escapes_are_texts(tmp_path):
    _, (ada,) = read(tmp_path, rf'<{EX}Ada> <{EX}said> "\"Ja\", \u00e9t\U0001F600\n2" .')

    assert ada.triples[0].value == '"Ja", ét😀\n2'


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"<{EX}Ada> <{EX}knows> .", "The object of a triple"),
        (f'<{EX}Ada> <{EX}knows> "x" . {KNOWS}', "Only a single triple"),
        (f'<{EX}Ada> <{EX}knows> "open .', "Unexpected end"),
        (f"<Ada> <{EX}knows> <{EX}Mary> .", "No scheme found"),
        ("nonsense", '"nonsense"'),
        (f'<{EX}Ada> <{EX}knows> "\\u0000" .', "a NUL character"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_stops_no_other(tmp_path, line, found):
    _, (problem, ada) = read(tmp_path, KNOWS, "# one", line, *NAMED)

    assert isinstance(problem, Problem)
    assert problem.where.line == 3
    assert found in problem.found
    assert (ada.label, ada.triples) == ("Ada S.", (EntityTriple("knows", "Mary S.", "Mary"),))


def test_lines_that_are_no_text_are_told_and_other_chunks_are_read(tmp_path):
    path = tmp_path / "graph.nt"
    many = "".join(f'<{EX}e{n}> <{EX}voc#is> "{n}" .\n' for n in range(LINES_AT_ONCE + 10))
    path.write_bytes(f"{KNOWS}\n".encode() + b"\xff\n" + many.encode() + KNOWS.encode())

    with open_material(path) as material:
        problem, *entities = material.records("entities")
    assert isinstance(problem, Problem)

    assert problem.where.line == 2
    assert problem.expected.startswith("UTF-8 text")
    assert len(entities) == LINES_AT_ONCE + 11
    assert entities[-1].where.line == LINES_AT_ONCE + 12
    assert material.n_left_out == {"repeated triples": 1}  # a last line without an end


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([f'<{EX}voc/> <{EX}voc#is> "empty" .'], f"{EX}voc/"),
        ([f'<{EX}{"x" * 101}> <{EX}voc#is> "long" .'], "101 characters"),
        ([KNOWS, f'<{EX}Ada> {LABEL} "{"x" * 501}" .'], "501 characters"),
    ],
)
def test_a_name_that_cannot_be_stored_is_a_problem(tmp_path, lines, found):
    _, (problem,) = read(tmp_path, *lines)

    assert isinstance(problem, Problem)
    assert found in problem.found


def test_endlessly_many_predicates_stop_the_import(tmp_path, monkeypatch):
    monkeypatch.setattr(rdf_store, "MOST_RELATIONS", 3)

    with pytest.raises(DatasetError, match="more than 3 different predicates"):
        read(tmp_path, *(f'<{EX}a> <{EX}voc#p{n}> "x" .' for n in range(4)))


def test_a_property_that_is_described_after_its_use_names_it(tmp_path):
    _, (ada,) = read(
        tmp_path,
        f"<{WD}Q1> <{WDT}P31> <{WD}Q5> .",
        f'<{WD}Q5> {LABEL} "human"@en .',
        f'<{WD}P31> {LABEL} "instance of"@en .',
        f"<{WD}P31> {CLAIM} <{WDT}P31> .",
    )

    assert ada.triples == (EntityTriple("instance of", "human", "Q5"),)
    assert ada.type == "human"


# --- recognising ----------------------------------------------------------------------------


def test_the_format_is_told_by_its_first_triple_gzipped_or_in_a_zip(tmp_path):
    text = f"# graph\n\n_:b <{EX}knows> _:c .\n{KNOWS}\n"
    plain, packed, archive = (tmp_path / name for name in ("a.txt", "b.nt.gz", "c.zip"))
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("d/graph.nt", text)
        file.writestr("d/README.md", "about")

    assert {recognise(path) for path in (plain, packed, archive)} == {"ntriples"}
