"""Any number of seeded people, towns and paintings in Wikidata's form.

The same seed always gives the same ones. Some people have the same name.
"""

import random
from collections.abc import Sequence

from tests.wikidata_nodes import WKT, XSD, Literal, Node, date

_FIRST = (
    "Ada", "Bruno", "Clara", "Dario", "Elena", "Fabio", "Gina", "Hugo", "Irma",
    "Jonas", "Karla", "Luca", "Mara", "Nino", "Olga",
)  # fmt: skip
_LAST = (
    "Abel", "Bianchi", "Conti", "D'Amico", "Esser", "Ferri", "Gallo",
    "Huber", "Iseppi", "Jost", "Keller", "Lang", "Moro",
)  # fmt: skip
_SYLLABLES = (
    "al", "bar", "cor", "den", "el", "far", "gor", "hal", "is",
    "kar", "lan", "mor", "nor", "ol", "per", "ros", "sal", "tor", "ul", "ver",
)  # fmt: skip
_OCCUPATIONS = ("Q33999", "Q1028181", "Q36180", "Q49757", "Q4964182", "Q593644", "Q639669", "Q901")
_COUNTRIES = ("Q145", "Q38", "Q142", "Q30", "Q41")
_FIRST_SEEDED = 9_000_000


def seeded(seed: int, n_people: int) -> list[Node]:
    """Return people, with their towns and paintings; some people have the same name."""
    rng = random.Random(seed)
    numbers = iter(range(_FIRST_SEEDED, _FIRST_SEEDED + 10 * n_people))
    towns = [_town(rng, f"Q{next(numbers)}") for _ in range(max(1, n_people // 8))]
    people: list[Node] = []
    works: list[Node] = []
    for _ in range(n_people):
        qid = f"Q{next(numbers)}"
        if rng.random() < 0.3:
            works.append(_painting(rng, f"Q{next(numbers)}", qid))
        made = [work.qid for work in works[-1:] if ("P170", qid) in work.statements]
        people.append(_person(rng, qid, towns, people, made))
    return [*towns, *people, *works]


def _town(rng: random.Random, qid: str) -> Node:
    name = "".join(rng.choices(_SYLLABLES, k=3)).capitalize()
    where = f"Point({rng.uniform(-9, 30):.4f} {rng.uniform(36, 60):.4f})"
    return Node(
        qid,
        name,
        (
            ("P31", rng.choice(("Q515", "Q3957"))),
            ("P17", rng.choice(_COUNTRIES)),
            ("P1082", Literal(f"{rng.randint(900, 900_000)}", XSD + "decimal")),
            ("P625", Literal(where, WKT)),
        ),
        (f"{name} on the river",),
        (("de", name), ("it", f"{name}o")),
    )


def _person(
    rng: random.Random, qid: str, towns: Sequence[Node], earlier: Sequence[Node], made: list[str]
) -> Node:
    name = f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
    born = rng.randint(1400, 1990)
    statements: list[tuple[str, str | Literal | None]] = [
        ("P31", "Q5"),
        ("P21", rng.choice(("Q6581097", "Q6581072"))),
        ("P27", rng.choice(_COUNTRIES)),
        ("P19", rng.choice(towns).qid),
        ("P569", date(f"{born}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}")),
        ("P214", Literal(str(rng.randint(10**7, 10**8)))),
        *(("P106", occupation) for occupation in rng.sample(_OCCUPATIONS, rng.randint(1, 2))),
        *(("P800", work) for work in made),
    ]
    if earlier and rng.random() < 0.4:
        statements.append(("P26", rng.choice(earlier).qid))
    if rng.random() < 0.6:
        statements.append(("P20", rng.choice(towns).qid))
        statements.append(("P570", date(f"{born + rng.randint(20, 90)}-01-01")))
    return Node(qid, name, tuple(statements), (f"{name} of {born}",), (("de", name), ("it", name)))


def _painting(rng: random.Random, qid: str, painter: str) -> Node:
    title = f"The {rng.choice(_SYLLABLES)}{rng.choice(_SYLLABLES)} {rng.randint(1, 99)}"
    return Node(
        qid,
        title,
        (
            ("P31", "Q3305213"),
            ("P170", painter),
            ("P571", date(f"{rng.randint(1400, 1990)}-01-01")),
            ("P1476", Literal(title, language="en")),
        ),
        (),
        (("it", f"{title} (dipinto)"),),
    )
