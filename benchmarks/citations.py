"""Read, judge and count answers with citations: seconds for 100,000, and the ratio to 10,000.

Answers have 4 sentences with 2 citations each, in a bracket before the full stop. Most citations
are right, some are made up, incomplete or repeated, and one answer in four also has an [NA]. Graphs
have 20 relations, two entities and 40 triples beside the names; six triples are the minimum set. As
in BioKaLMA, there are 1,085 graphs with relations drawn from 110. Answers about one graph are not
next to each other. Some values have commas and colons. Seconds are CPU seconds of one core, the
best of two rounds, for the whole work: parsing, judging, micro and macro figures. The time to make
the answers does not count.

    .venv/bin/python benchmarks/citations.py --json
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is loaded
sys.path.insert(0, str(Path(__file__).parent.parent))

from evaluation.measures.authors_citation import count_as_authors
from evaluation.measures.citation import CitationFigures, Mode, citation_figures, count_citations
from generation.text.citations import parse_citations
from generation.text.flat_graph import Triple

N_GRAPHS, N_RELATIONS, N_ALL_RELATIONS = 1085, 20, 110
N_SENTENCES, N_NEEDED = 4, 6
N_PHRASES = 2000
N_ROUNDS = 2
FEW = 10_000


class Graph(NamedTuple):
    shown: list[Triple]
    minimum: list[Triple]
    relations: frozenset[str]
    qids: frozenset[str]


class Answer(NamedTuple):
    text: str
    graph: Graph


# --- workload -------------------------------------------------------------------------------


def graphs(draw: random.Random) -> list[Graph]:
    names = [f"{words(draw, 1, 3).lower()} of" for _ in range(N_ALL_RELATIONS - 2)]
    made = []
    for place in range(N_GRAPHS):
        relations = [*draw.sample(names, N_RELATIONS - 2), "date_of_birth", "date_of_death"]
        shown = []
        for qid in (f"Q{100 * place + 7}", f"Q{100 * place + 8}"):
            shown += [(qid, "name", words(draw, 2, 3))]
            shown += [(qid, relation, value(draw)) for relation in relations]
        facts = [triple for triple in shown if triple[1] != "name"]
        made.append(
            Graph(
                shown,
                draw.sample(facts, N_NEEDED),
                frozenset(relation for _, relation, _ in shown),
                frozenset(qid for qid, _, _ in shown),
            )
        )
    return made


def answers(n: int, seed: int = 8) -> list[Answer]:
    """Return answers about the graphs in turn, drawn with a seed."""
    draw = random.Random(seed)
    about = graphs(draw)
    phrases = [words(draw, 8, 12) for _ in range(N_PHRASES)]
    return [
        Answer(text(draw, graph, phrases), graph)
        for graph in (about[place % N_GRAPHS] for place in range(n))
    ]


def text(draw: random.Random, graph: Graph, phrases: Sequence[str]) -> str:
    facts = [triple for triple in graph.shown if triple[1] != "name"]
    has_na = draw.random() < 0.25
    sentences = []
    for place in range(N_SENTENCES):
        (qid, first, one), (_, second, other) = draw.sample(facts, 2)
        kind = draw.random()
        if kind < 0.1:
            other = words(draw, 1, 2)  # a made-up value
        elif kind < 0.15:
            other = ""  # an incomplete citation
        na = " [NA]" if has_na and place == 2 else ""
        sentence = f"{draw.choice(phrases)}{na} {draw.choice(phrases).lower()}"
        sentences.append(f"{sentence} [{qid}, {first}: {one}, {second}: {other}].")
    return " ".join(sentences)


def value(draw: random.Random) -> str:
    kind = draw.random()
    if kind < 0.05:
        return f"{words(draw, 1, 3)}, {words(draw, 1, 1)}"
    if kind < 0.06:
        return f"{words(draw, 1, 2)}: {words(draw, 2, 3)}"
    return words(draw, 1, 3)


def words(draw: random.Random, fewest: int, most: int) -> str:
    """Return some words of two or three syllables, the first in upper case."""
    syllables = ("ba", "den", "ka", "lor", "mi", "nus", "pe", "rat", "so", "tu")
    drawn = (
        "".join(draw.choices(syllables, k=draw.randint(2, 3)))
        for _ in range(draw.randint(fewest, most))
    )
    return " ".join(drawn).capitalize()


# --- ways -----------------------------------------------------------------------------------


def figures_of(corpus: Sequence[Answer]) -> CitationFigures:
    """Parse, judge and count in the paper's mode."""
    return citation_figures(
        [
            count_citations(
                parse_citations(answer.text, answer.graph.relations, answer.graph.qids),
                answer.graph.shown,
                answer.graph.minimum,
            )
            for answer in corpus
        ]
    )


def authors_figures_of(corpus: Sequence[Answer]) -> CitationFigures:
    """Parse, judge and count in the mode `authors_code`."""
    counted = [
        count_as_authors(answer.text, answer.graph.shown, answer.graph.minimum) for answer in corpus
    ]
    return citation_figures([each for each in counted if each], Mode.AUTHORS_CODE)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--answers", type=int, default=10 * FEW, help="fewer for a try; names of figures stay"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    many = answers(options.answers)
    few = many[: options.answers // 10]
    ways = {
        "seconds_10k": (figures_of, few),
        "seconds_100k": (figures_of, many),
        "authors_seconds_100k": (authors_figures_of, many),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(N_ROUNDS):
        for name, (way, corpus) in ways.items():
            began = time.process_time()
            way(corpus)
            best[name] = min(best[name], time.process_time() - began)
    found = figures_of(few)
    figures = {
        "answers": options.answers,
        **{name: round(seconds, 3) for name, seconds in best.items()},
        "ratio_100k_to_10k": round(best["seconds_100k"] / best["seconds_10k"], 2),
        "microseconds_per_answer": round(1e6 * best["seconds_100k"] / len(many), 1),
        **{name: round(figure, 4) for name, figure in found._asdict().items()},
    }
    for name, figure in figures.items():
        sys.stdout.write(f"{name:<28}{figure:>12,}\n")
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
