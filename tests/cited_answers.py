"""Answers with citations whose figures were counted by hand (KaLMA, 4.2).

`verdicts` classifies each citation, in order: I in the minimum set, C correct only, W wrong,
- incomplete. `figures` are the answer's correctness, precision, recall and F1 as they enter the
macro means: (I + C) / all, I / all, different I / size of the minimum set, 2PR / (P + R); a dash
(—) means that the answer has no such figure.
"""

from typing import NamedTuple

from generation.text.flat_graph import Triple

BORN = ("Q1", "place of birth", "Rome")
FATHER = ("Q1", "father", "Orazio Gentileschi")
JUDITH = ("Q1", "notable works", "Judith Slaying Holofernes")
DIED = ("Q2", "place of death", "London")
PAINTERS: list[Triple] = [
    ("Q1", "name", "Artemisia Gentileschi"),
    BORN,
    FATHER,
    JUDITH,
    ("Q1", "occupation", "painter"),
    ("Q1", "date_of_birth", "1593-07-08"),
    ("Q2", "name", "Orazio Gentileschi"),
    DIED,
    ("Q2", "occupation", "painter"),
    ("Q2", "child", "Artemisia Gentileschi"),
]
FOUR = [BORN, FATHER, JUDITH, DIED]

BERKELEY = ("Q3", "alma mater", "University of California, Berkeley")
STAR_TREK = ("Q3", "notable works", "Star Trek: The Next Generation")
SURVEY = ("Q3", "described by", "The Moon: a Planet, a World, and a Satellite")
AWARD = ("Q3", "award", "Order [first class]")
ST_LOUIS = ("Q3", "employer", "Washington University in St.\u00a0Louis")
WRITER: list[Triple] = [
    ("Q3", "name", "Ann Author"),
    BERKELEY,
    STAR_TREK,
    SURVEY,
    AWARD,
    ST_LOUIS,
    ("Q3", "occupation", "writer"),
]

KING: list[Triple] = [
    ("Q4", "name", "Midas"),
    ("Q4", "date_of_death", "-0675-01-01"),
    ("Q4", "described in", "M\u00e9tamorphoses"),
]

EXPLORER = ("Q5", "occupation", "explorer")
POLITICIAN = ("Q6", "occupation", "politician")
NAMESAKES: list[Triple] = [
    ("Q5", "name", "John Smith"),
    EXPLORER,
    ("Q6", "name", "John Smith"),
    POLITICIAN,
]


class Case(NamedTuple):
    name: str
    text: str
    shown: list[Triple]
    minimum: list[Triple] | None
    verdicts: str
    figures: str
    n_na: int = 0  # sentences with [NA]
    n_other: int = 0  # brackets that are text, not citations


CASES = [
    Case(
        "all that is needed",
        "Artemisia was born in Rome [Q1, place of birth: Rome, father: Orazio Gentileschi]. She "
        "painted Judith [Q1, notable works: Judith Slaying Holofernes]. He died in London "
        "[Q2, place of death: London].",
        *(PAINTERS, FOUR, "I I I I", "4/4 4/4 4/4 1"),
    ),
    Case(
        "half of what is cited is needed",
        "She was a painter [Q1, place of birth: Rome, occupation: painter]. So was he "
        "[Q2, occupation: painter, place of death: London].",
        *(PAINTERS, FOUR, "I C C I", "4/4 2/4 2/4 1/2"),
    ),
    Case(
        "one of each",
        "She was a painter from Rome [Q1, place of birth: Rome, occupation: painter, sport: golf].",
        *(PAINTERS, FOUR, "I C W", "2/3 1/3 1/4 2/7"),  # 2 · 1/12 / (7/12)
    ),
    Case(
        "another value",
        "She was born in Pisa [Q1, place of birth: Pisa].",
        *(PAINTERS, FOUR, "W", "0/1 0/1 0/4 0"),
    ),
    Case(
        "upper case is another value",
        "She was born in Rome [Q1, place of birth: rome].",
        *(PAINTERS, FOUR, "W", "0/1 0/1 0/4 0"),
    ),
    Case(
        "another entity's triple",
        "He was born in Rome [Q2, place of birth: Rome] and died in London "
        "[Q2, place of death: London].",
        *(PAINTERS, FOUR, "W I", "1/2 1/2 1/4 1/3"),  # 2 · 1/8 / (3/4)
    ),
    Case(
        "a needed one again",
        "She was born in Rome [Q1, place of birth: Rome]. Rome shaped her "
        "[Q1, place of birth: Rome, occupation: painter].",
        *(PAINTERS, FOUR, "I I C", "3/3 2/3 1/4 4/11"),  # 2 · 2/12 / (11/12)
    ),
    Case(
        "a bracket after the full stop",
        "She was born in Rome. [Q1, place of birth: Rome]",
        *(PAINTERS, FOUR, "I", "1/1 1/1 1/4 2/5"),  # 2 · 1/4 / (5/4)
    ),
    Case(
        "a qid alone",
        "Artemisia [Q1] was born in Rome [Q1, place of birth: Rome].",
        *(PAINTERS, FOUR, "- I", "1/2 1/2 1/4 1/3"),
    ),
    Case(
        "a relation without a value",
        "Artemisia painted [Q1, occupation: ] in Rome [Q1, place of birth: Rome].",
        *(PAINTERS, FOUR, "- I", "1/2 1/2 1/4 1/3"),
    ),
    Case(
        "no qid",
        "She was born in Rome [place of birth: Rome].",
        *(PAINTERS, FOUR, "-", "0/1 0/1 0/4 0"),
    ),
    Case(
        "other brackets beside a citation",
        "He dyed [sic] in London [1] [Q2, place of death: London].",
        *(PAINTERS, FOUR, "I", "1/1 1/1 1/4 2/5", 0, 2),
    ),
    Case(
        "other brackets alone",
        "He dyed [sic] in London [1].",
        *(PAINTERS, FOUR, "", "— 0 0/4 0", 0, 2),
    ),
    Case("no bracket", "He died in London.", PAINTERS, FOUR, "", "— 0 0/4 0"),
    Case("no text", "", PAINTERS, FOUR, "", "— 0 0/4 0"),
    Case(
        "[NA] alone",
        "She studied with Tassi [NA].",
        *(PAINTERS, FOUR, "", "— 0 0/4 0", 1),
    ),
    Case(
        "[NA] and a citation in one sentence",
        "She was born on a Tuesday [NA] in Rome [Q1, place of birth: Rome].",
        *(PAINTERS, FOUR, "I", "1/1 1/1 1/4 2/5", 1),
    ),
    Case(
        "three [NA] in two sentences",
        "She left [NA] for Florence [NA]. He stayed [Q2, child: Artemisia Gentileschi]. They "
        "met again. [NA]",
        *(PAINTERS, FOUR, "C", "1/1 0/1 0/4 0", 2),
    ),
    Case(
        "[NA] inside a citation is its value",
        "She was a painter [Q1, occupation: painter, NA].",
        *(PAINTERS, FOUR, "W", "0/1 0/1 0/4 0"),
    ),
    Case(
        "qid written out, name given in two ways",
        "She was born in Rome "
        "[qid: Q1, Artemisia Gentileschi, name: Artemisia Gentileschi, place of birth: Rome].",
        *(PAINTERS, FOUR, "I", "1/1 1/1 1/4 2/5"),
    ),
    Case(
        "a name alone, as the shown text has it",
        "Artemisia Gentileschi [Q1, name: Artemisia Gentileschi] painted [Q1, occupation: painter]",
        *(PAINTERS, FOUR, "C C", "2/2 0/2 0/4 0"),
    ),
    Case(
        "semicolons and odd white space",
        "She painted [ Q1 ; occupation: painter;place of birth:  Rome ].",
        *(PAINTERS, FOUR, "C I", "2/2 1/2 1/4 1/3"),
    ),
    Case(
        "a date spelt with spaces, the graph's with underscores",
        "Artemisia was born in 1593 [Q1, date of birth: 1593-07-08].",
        *(PAINTERS, [("Q1", "date_of_birth", "1593-07-08")], "I", "1/1 1/1 1/1 1"),
    ),
    Case(
        "a date spelt with underscores, the minimum set's with spaces",
        "Artemisia was born in 1593 [Q1, date_of_birth: 1593-07-08] in Rome.",
        *(PAINTERS, [BORN, ("Q1", "date of birth", "1593-07-08")], "I", "1/1 1/1 1/2 2/3"),
    ),
    Case(
        "a date BC, and one that lost its sign",
        "Midas died [Q4, date of death: -0675-01-01] long ago [Q4, date of death: 0675-01-01].",
        *(KING, [KING[1]], "I W", "1/2 1/2 1/1 2/3"),
    ),
    Case(
        "letters composed here and combined there",
        "Ovid tells of him [Q4, described in: Me\u0301tamorphoses].",
        *(KING, [KING[2]], "I", "1/1 1/1 1/1 1"),
    ),
    Case(
        "a value with a comma, then another relation",
        "Ann studied at Berkeley "
        "[Q3, alma mater: University of California, Berkeley, occupation: writer].",
        *(WRITER, [BERKELEY, STAR_TREK], "I C", "2/2 1/2 1/2 1/2"),
    ),
    Case(
        "a value with a colon",
        "Ann wrote it [Q3, notable works: Star Trek: The Next Generation].",
        *(WRITER, [BERKELEY, STAR_TREK], "I", "1/1 1/1 1/2 2/3"),
    ),
    Case(
        "a value with a colon and commas, between others",
        "Ann [Q3, occupation: writer, described by: The Moon: a Planet, a World, and a Satellite, "
        "notable works: Star Trek: The Next Generation].",
        *(WRITER, [SURVEY, BERKELEY], "C I C", "3/3 1/3 1/2 2/5"),  # 2 · 1/6 / (5/6)
    ),
    Case(
        "half a value",
        "Ann studied at Berkeley [Q3, alma mater: University of California].",
        *(WRITER, [BERKELEY], "W", "0/1 0/1 0/1 0"),
    ),
    Case(
        "a value with a bracket, then another relation",
        "Ann was honoured [Q3, award: Order [first class], occupation: writer].",
        *(WRITER, [AWARD], "I C", "2/2 1/2 1/1 2/3"),
    ),
    Case(
        "a value as the flat text shows its white space",
        "Ann taught [Q3, employer: Washington University in St. Louis].",
        *(WRITER, [ST_LOUIS], "I", "1/1 1/1 1/1 1"),
    ),
    Case(
        "a made-up relation does not spoil the value before it",
        "Ann wrote [Q3, occupation: writer, nickname: Pen].",
        *(WRITER, [BERKELEY], "C W", "1/2 0/2 0/1 0"),
    ),
    Case(
        "namesakes: the right person",
        "John Smith was an explorer [Q5, occupation: explorer].",
        *(NAMESAKES, [EXPLORER, POLITICIAN], "I", "1/1 1/1 1/2 2/3"),
    ),
    Case(
        "namesakes: one's office, the other's qid",
        "John Smith was a politician [Q5, occupation: politician].",
        *(NAMESAKES, [EXPLORER, POLITICIAN], "W", "0/1 0/1 0/2 0"),
    ),
    Case(
        "empty graph, citation from memory",
        "She was born in Rome [Q1, place of birth: Rome].",
        *([], FOUR, "W", "0/1 0/1 0/4 0"),
    ),
    Case("empty graph, no citation", "I cannot say.", [], FOUR, "", "— 0 0/4 0"),
    Case(
        "a needed triple that was not shown",
        "She was born in Rome [Q1, place of birth: Rome, father: Orazio Gentileschi].",
        *([t for t in PAINTERS if t != BORN], FOUR, "W I", "1/2 1/2 1/4 1/3"),
    ),
    Case(
        "unknown minimum set",
        "She was a painter [Q1, occupation: painter, place of birth: Rome, sport: golf].",
        *(PAINTERS, None, "C C W", "2/3 — — —"),
    ),
    Case("unknown minimum set, no citation", "A painter.", PAINTERS, None, "", "— — — —"),
    Case(
        "empty minimum set",
        "She was a painter [Q1, occupation: painter, place of birth: Pisa].",
        *(PAINTERS, [], "C W", "1/2 0/2 — —"),
    ),
    Case("empty minimum set, no citation", "A painter.", PAINTERS, [], "", "— 0 — —"),
    Case(
        "a minimum set with a member twice, and a name",
        "Artemisia was born in 1593 [Q1, date of birth: 1593-07-08].",
        PAINTERS,
        [
            ("Q1", "date_of_birth", "1593-07-08"),
            ("Q1", "date of birth", "1593-07-08 "),
            ("Q1", "name", "Artemisia Gentileschi"),
            BORN,
        ],
        *("I", "1/1 1/1 1/2 2/3"),
    ),
    Case(
        "a name alone, not as the shown text has it",
        "Artemisia [Q1, name: Artemisia] painted [Q1, occupation: painter].",
        *(PAINTERS, FOUR, "W C", "1/2 0/2 0/4 0"),
    ),
    Case(
        "another name beside others, which are judged by themselves",
        "She was a painter "
        "[Q1, name: Orazio Gentileschi, occupation: painter, place of birth: Rome].",
        *(PAINTERS, FOUR, "C I W", "2/3 1/3 1/4 2/7"),  # the name comes last
    ),
    Case(
        "another bare name beside another, without a relation",
        "She was born in Rome [Q1, Orazio Gentileschi, place of birth: Rome].",
        *(PAINTERS, FOUR, "I -", "1/2 1/2 1/4 1/3"),
    ),
    Case(
        "any name of an entity without one in the shown text",
        "She was a painter [Q9, name: Lavinia, occupation: painter].",
        *(PAINTERS, FOUR, "W", "0/1 0/1 0/4 0"),
    ),
    Case(
        "a name alone of which a minimum set has a member",
        "Artemisia Gentileschi [Q1, name: Artemisia Gentileschi].",
        *(PAINTERS, [PAINTERS[0], BORN], "C", "1/1 0/1 0/1 0"),
    ),
]
