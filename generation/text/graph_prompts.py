"""Prompts for questions about a knowledge graph (KaLMA, 3.3 and table 10).

There is one flat text for every model. It has the instruction, one demonstration, then the question
after the sub-graphs, each in a line of its own:

    Instruction: …

    Question: Considering the information:
    {name: …, relation: value, …, qid: …}
    <the demonstration's question>

    Answer: …

    Question: Considering the information:
    {name: …, relation: value, …, qid: …}
    <the question>

    Answer:

The paper prints an empty line between any two of these; the choice of line breaks is ours. A
question without sub-graphs follows its opening line directly. White space inside a name, a value or
the question becomes one space, so that no line break can begin another part.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from generation.text.context_budget import Context
from generation.text.dialog_prompts import BudgetError, BuiltPrompt
from generation.text.flat_graph import Triple, flat_graph
from generation.text.graph_reading import ANSWER, OPENING
from generation.text.prompts import prompt_text
from generation.text.tokens import count_tokens

# A completion ends here, because models that go on write the next question or begin again.
STOPS = ("\nQuestion:", "\nInstruction:")
NAME = "name"

Graph = tuple[Triple, ...]


def build_graph_prompt(
    graph: Iterable[Triple], question: str, budget: int | None = None
) -> BuiltPrompt:
    """Return the prompt of a question and its sub-graphs, within a budget of tokens if any.

    If it does not fit, the longest sub-graph loses its last triple, again and again. Each sub-graph
    keeps its name and one triple, so that no entity disappears. The result's `graph` has the
    triples that the prompt holds.

    Args:
        graph: the triples of each sub-graph, one sub-graph after the other; the first triple of
            each may be its name. Triples without a value are not shown.

    Raises:
        BudgetError: the prompt does not fit; the message has the counts.
    """
    head, asked = prompt_text("cited_answer"), " ".join(question.split())
    n_head, n_asked = (count_tokens(text) for text in (head, f"{OPENING} {asked} {ANSWER}"))
    whole = shown_graphs(graph)
    kept = whole if budget is None else _within(whole, budget - n_head - n_asked)
    lines = [flat_graph(sub_graph) for sub_graph in kept]
    n_evidence = sum(map(count_tokens, lines))
    shown = tuple(triple for sub_graph in kept for triple in sub_graph)
    built = BuiltPrompt(
        text="\n".join([head, "", OPENING, *lines, asked, "", ANSWER]),
        n_dialog_tokens=n_asked,
        n_evidence_tokens=n_evidence,
        n_instruction_tokens=n_head,
        n_tokens=n_asked + n_evidence + n_head,
        context=Context((), ()),
        graph=shown,
        n_triples_left_out=sum(map(len, whole)) - len(shown),
    )
    if budget is not None and built.n_tokens > budget:
        raise BudgetError(
            f"{built.n_tokens:,} tokens where all is left out that may be (question {n_asked:,}, "
            f"graphs {n_evidence:,}, instruction and demonstration {n_head:,}); "
            f"expected at most {budget:,}"
        )
    return built


def shown_graphs(graph: Iterable[Triple]) -> tuple[Graph, ...]:
    """Return the triples as a prompt shows them, grouped by entity in order of first occurrence.

    White space inside a relation or a value becomes one space. Triples without a value are left
    out.
    """
    by_entity: dict[str, list[Triple]] = {}
    for qid, relation, value in graph:
        if value.strip() and relation != "qid":
            one_line = (qid, " ".join(relation.split()), " ".join(value.split()))
            by_entity.setdefault(qid, []).append(one_line)
    return tuple(map(tuple, by_entity.values()))


def said_about_graph(completion: str) -> str:
    """Return a model's answer: its completion up to the next question, stripped."""
    ends = (at for stop in STOPS if (at := completion.find(stop)) >= 0)
    return completion[: min(ends, default=len(completion))].strip()


def _within(graphs: Sequence[Graph], room: int) -> tuple[Graph, ...]:
    """Return the sub-graphs, shortened until they fit or may not be shortened any more."""
    kept = [list(graph) for graph in graphs]
    sizes = [count_tokens(flat_graph(graph)) for graph in kept]
    n_tokens = sum(sizes)
    longest = [(-size, -place) for place, size in enumerate(sizes) if _may_lose(kept[place])]
    heapify(longest)
    while longest and n_tokens > room:
        place = -heappop(longest)[1]
        _, relation, value = kept[place].pop()
        n_gone = count_tokens(f"{relation}: {value},")
        sizes[place] -= n_gone
        n_tokens -= n_gone
        if _may_lose(kept[place]):
            heappush(longest, (-sizes[place], -place))
    return tuple(map(tuple, kept))


def _may_lose(graph: Sequence[Triple]) -> bool:
    """Return whether a sub-graph has more than its name and one triple."""
    return len(graph) > (2 if graph[0][1] == NAME else 1)
