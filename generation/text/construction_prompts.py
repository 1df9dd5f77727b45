"""Prompts that make a model write questions about two people of a graph (KaLMA, 2.2, tables 8, 9).

The model writes the answer first and the question second. Each prompt is the instruction and the
one demonstration, then the new case in the same words, up to the point where the model goes on:

    Instruction: …                 Instruction: …

    sentence: …                    answer: …

    knowledge: {qid: …, name: …}   question: …
    {qid: …, name: …}
                                   knowledge: {qid: …, name: …, relation: value}

    Generated Answer:              Generated Answer:

Unlike in prompts that are answered (table 10), the qid comes first. White space inside a part
becomes one space, so that no line break can begin another part.
"""

from collections.abc import Iterable

from generation.text.flat_graph import Triple
from generation.text.graph_prompts import NAME, Graph
from generation.text.prompts import prompt_text

SENTENCE, KNOWLEDGE = "sentence:", "knowledge:"
ANSWER, QUESTION = "answer:", "question:"
GENERATED_ANSWER, GENERATED_QUESTION = "Generated Answer:", "Generated Question:"


def first_prompt(paragraph: str, graphs: Iterable[Graph]) -> str:
    """Return the prompt of round 1: annotate the paragraph with the sub-graphs, then ask.

    Args:
        graphs: one sub-graph per person; a triple without a value is not shown.
    """
    lines = "\n".join(filter(None, map(qid_first, graphs)))
    shown = [f"{SENTENCE} {_one_line(paragraph)}", f"{KNOWLEDGE} {lines}"]
    return _prompt("annotated_question", shown, GENERATED_ANSWER)


def next_prompt(answer: str, question: str, triple: Triple, name: str) -> str:
    """Return the prompt of round 2 or later: extend answer and question by one triple.

    Args:
        answer: the answer of the round before, with its citations.
        question: the question of the round before.
        triple: the triple to add.
        name: the name of the triple's entity.
    """
    knowledge = qid_first([(triple[0], NAME, name), triple])
    shown = [*_before(answer, question), f"{KNOWLEDGE} {knowledge}"]
    return _prompt("extended_question", shown, GENERATED_ANSWER)


def simple_prompt(answer: str, question: str) -> str:
    """Return the prompt that rewrites a question in the simple style.

    Args:
        answer: the answer of the last round, with its citations.
        question: the question of the last round.
    """
    return _prompt("simple_question", _before(answer, question), GENERATED_QUESTION)


def qid_first(graph: Iterable[Triple]) -> str:
    """Return one entity as flat text, '{qid: Q7259, name: Ada Lovelace, occupation: writer}'.

    The name follows the qid, then come the relations in the order given. The text is "" if there is
    no value.
    """
    filled = [each for each in graph if each[2].strip() and each[1] != "qid"]
    ordered = sorted(filled, key=lambda triple: triple[1] != NAME)
    if not ordered:
        return ""
    stated = (f"{_one_line(relation)}: {_one_line(value)}" for _, relation, value in ordered)
    return f"{{{', '.join([f'qid: {ordered[0][0]}', *stated])}}}"


def _before(answer: str, question: str) -> list[str]:
    return [f"{ANSWER} {_one_line(answer)}", f"{QUESTION} {_one_line(question)}"]


def _prompt(name: str, shown: Iterable[str], end: str) -> str:
    return "\n\n".join([prompt_text(name), *shown, end])


def _one_line(text: str) -> str:
    return " ".join(text.split())
