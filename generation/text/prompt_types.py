"""The types of prompts in a grid: the content of each, and its form.

See [A] 6.2, 7.4, 7.7, 9.3; [K] 3.3, and 5.2, 5.3 for gold graphs that lack knowledge.
"""

import re
from typing import Literal, NamedTuple, get_args

Evidence = Literal["none", "golden", "retrieved", "top", "random", "next-best", "graph"]
RestrictedEvidence = Literal["golden", "next-best", "random"]  # evidence of restricted context
# The sub-graphs that a prompt shows: those retrieved here, those that the import names as
# retrieved, or the gold ones.
Graph = Literal["retrieved", "imported", "gold"]
MOST_FACTS = 20  # passages: the limit of k in retrieved and top prompts, and of K1 in parts
SHARES = tuple(tenths / 10 for tenths in range(10, -1, -1))  # shares of the dialog: 1.0, 0.9 … 0.0
MOST_REMOVED = 9  # pieces of knowledge
ACCURACIES = (80, 60, 40, 20)  # per cent of the gold sub-graphs that are shown; 100 is all of them
TOP, RESTRICTED, GRAPH = 13, 14, 15  # places of types beyond the twelve


class PromptType(NamedTuple):
    """The content of a prompt beside the user's question.

    `evidence`: `retrieved` always holds the golden passages, `top` is the real ranking, and
    `random` and `next-best` are passages that are not golden.
    """

    key: str  # its name in grid files and setups
    title: str
    place: int  # its place in lists, legends and pools, shared by the other k of one type
    evidence: Evidence
    k: int = 1  # number of passages in `retrieved` and `top` (parts included)
    has_instructions: bool = False
    has_history: bool = True
    is_one_shot: bool = False  # a demonstration comes first
    # For restricted context: the share of the dialog's tokens to keep, 0 to 1. The first sentences
    # of the evidence fill the rest of the whole. None: dialog and evidence are both whole.
    dialog_share: float | None = None
    # For a part of the recipe: the prompt shows passages `k * (part - 1) + 1` to `k * part` of the
    # first `of` of the ranking. 0: it is no part, and shows the first `k`.
    of: int = 0
    part: int = 0
    graph: Graph | None = None  # for `graph`: its sub-graphs; such a prompt asks for citations
    n_removed: int = 0  # for gold sub-graphs: number of members of the minimum set to remove
    accuracy: int = 100  # for gold sub-graphs: per cent, over all questions, that are not replaced

    @property
    def needs_golden(self) -> bool:
        """Whether an example without golden evidence can have no such prompt.

        This includes restricted context with non-evidence: it is compared with golden evidence over
        the same examples, and shows as many passages.
        """
        return self.evidence in ("golden", "retrieved") or self.dialog_share is not None

    @property
    def shows_passages(self) -> bool:
        """Whether its prompts hold passages. With a whole dialog, restricted context holds none."""
        return self.evidence not in ("none", "graph") and self.dialog_share != 1

    @property
    def cuts_evidence(self) -> bool:
        """Whether it shows a part of its evidence: restricted context with a part of a dialog."""
        return self.dialog_share not in (None, 0, 1)

    @property
    def lacks_knowledge(self) -> bool:
        """Whether its gold sub-graphs are not whole. The seed decides which part is missing."""
        return self.n_removed > 0 or self.accuracy < 100

    @property
    def n_before(self) -> int:
        """The number of passages that the parts before it show; 0 for a first part, or no part."""
        return max(0, self.k * (self.part - 1))


TWELVE: tuple[PromptType, ...] = (
    PromptType("no-evidence", "No evidence", 1, "none"),
    PromptType("golden", "Golden", 2, "golden"),
    PromptType("golden-instructions", "Golden, instructions", 3, "golden", has_instructions=True),
    PromptType("retrieved-2", "Retrieved 2", 4, "retrieved", 2),
    PromptType("retrieved-3", "Retrieved 3", 5, "retrieved", 3),
    PromptType(
        "retrieved-2-instructions",
        "Retrieved 2, instructions",
        6,
        "retrieved",
        2,
        has_instructions=True,
    ),
    PromptType(
        "retrieved-3-instructions",
        "Retrieved 3, instructions",
        7,
        "retrieved",
        3,
        has_instructions=True,
    ),
    PromptType("one-shot", "One-shot, golden", 8, "golden", is_one_shot=True),
    PromptType("no-history-no-evidence", "No history, no evidence", 9, "none", has_history=False),
    PromptType("no-history-golden", "No history, golden", 10, "golden", has_history=False),
    PromptType("random", "Random non-evidence", 11, "random"),
    PromptType("next-best", "Next-best non-evidence", 12, "next-best"),
)
GRAPHS: tuple[PromptType, ...] = (
    PromptType("graph-retrieved", "Graph, retrieved here", GRAPH, "graph", graph="retrieved"),
    PromptType("graph-imported", "Graph, as imported", GRAPH, "graph", graph="imported"),
    PromptType("graph-gold", "Graph, gold", GRAPH, "graph", graph="gold"),
)
_BY_KEY = {kind.key: kind for kind in (*TWELVE, *GRAPHS)}
_REMOVED = re.compile(rf"graph-gold-minus-(?P<n>[1-{MOST_REMOVED}])")
_ACCURACY = re.compile(rf"graph-accuracy-(?P<percent>{'|'.join(map(str, ACCURACIES))})")
_WITH_K = re.compile(
    r"(?P<evidence>retrieved|top)-(?P<k>[1-9][0-9]?)(?P<instructions>-instructions)?"
)
_PART = re.compile(
    r"top-(?P<k>[1-9][0-9]?)-of-(?P<of>[1-9][0-9]?)-part-(?P<part>[1-9][0-9]?)"
    r"(?P<instructions>-instructions)?"
)
_RESTRICTED = re.compile(r"restricted-(?P<evidence>golden|next-best|random)-(?P<share>[01]\.[0-9])")
_RESTRICTED_KEYS = ", ".join(f"restricted-{kind}-S" for kind in get_args(RestrictedEvidence))
_EXPECTED = (
    f"one of {', '.join(_BY_KEY)}, or one of these with a number instead of a capital letter: "
    f"retrieved-K or top-K (K from 1 to {MOST_FACTS}), top-K-of-K1-part-J (K1 up to {MOST_FACTS}), "
    f"each also with -instructions at its end, {_RESTRICTED_KEYS} (S from 1.0 to 0.0 in tenths), "
    f"graph-gold-minus-N (N from 1 to {MOST_REMOVED}), graph-accuracy-P (P one of "
    f"{', '.join(map(str, ACCURACIES))})"
)


def lacks_knowledge(key: str) -> bool:
    """Return whether prompts of a type show less than whole gold graphs; False for no type."""
    try:
        return prompt_type(key).lacks_knowledge
    except ValueError:
        return False


def prompt_type(key: str) -> PromptType:
    """Return the prompt type of a key: one of the twelve, `top-3`, `retrieved-5`, or others.

    The others belong to analyses: `restricted-golden-0.7` (restricted context), `top-2-of-5-part-3`
    (recipe), `graph-retrieved` (questions about a knowledge graph), `graph-gold-minus-2` (without
    two members of the minimum set) and `graph-accuracy-60` (40 % of all sub-graphs are wrong ones).

    Raises:
        ValueError: there is no such type; the message says what was expected.
    """
    if key in _BY_KEY:
        return _BY_KEY[key]
    if found := _PART.fullmatch(key):
        return _part(key, found)
    if (found := _RESTRICTED.fullmatch(key)) and float(found["share"]) in SHARES:
        return _restricted(key, found)
    if found := _REMOVED.fullmatch(key):
        n = int(found["n"])
        return PromptType(key, f"Graph, gold − {n}", GRAPH, "graph", graph="gold", n_removed=n)
    if found := _ACCURACY.fullmatch(key):
        percent = int(found["percent"])
        title = f"Graph, accuracy {percent} %"
        return PromptType(key, title, GRAPH, "graph", graph="gold", accuracy=percent)
    found = _WITH_K.fullmatch(key)
    if found is None or int(found["k"]) > MOST_FACTS:
        raise ValueError(f"prompt type {key!r}; expected {_EXPECTED}")
    k, has_instructions = int(found["k"]), bool(found["instructions"])
    if found["evidence"] == "top":
        place, evidence, title = TOP, "top", f"Top {k}"
    else:
        # Two values of k are among the twelve. Others have the place of the nearest.
        place, evidence, title = (
            (4 if k < 3 else 5) + 2 * has_instructions,
            "retrieved",
            f"Retrieved {k}",
        )
    return PromptType(
        key,
        title + ", instructions" * has_instructions,
        place,
        evidence,  # type: ignore[arg-type]
        k,
        has_instructions,
    )


def is_about_graph(key: str) -> bool:
    """Return whether any text is the key of a prompt about a knowledge graph."""
    try:
        return prompt_type(key).graph is not None
    except ValueError:
        return False


def removal_key(n_removed: int) -> str:
    """Return the key of prompts whose gold sub-graphs lack this many pieces of knowledge.

    0 gives the key of prompts with whole sub-graphs.
    """
    return f"graph-gold-minus-{n_removed}" if n_removed else "graph-gold"


def accuracy_key(percent: int) -> str:
    """Return the key of prompts with this percentage of gold sub-graphs; 100 keeps all."""
    return f"graph-accuracy-{percent}" if percent < 100 else "graph-gold"


def restricted_key(evidence: RestrictedEvidence, dialog_share: float) -> str:
    """Return the key of prompts that keep a share of the dialog, one of `SHARES`."""
    return f"restricted-{evidence}-{dialog_share:.1f}"


def part_key(k: int, of: int, part: int, *, has_instructions: bool = False) -> str:
    """Return the key of prompts with part `part` (from 1) of the first `of` passages."""
    return f"top-{k}-of-{of}-part-{part}" + "-instructions" * has_instructions


def n_parts(of: int, k: int) -> int:
    """Return how many prompts of exactly `k` passages cover the first `of`: ⌈of / k⌉.

    Raises:
        ValueError: `k` is below 1 or above `of`.
    """
    if not 1 <= k <= of:
        raise ValueError(f"{k} passages of the first {of}; expected from 1 to {of}")
    return -(-of // k)


def _part(key: str, found: re.Match[str]) -> PromptType:
    k, of, part = int(found["k"]), int(found["of"]), int(found["part"])
    if of > MOST_FACTS:
        raise ValueError(f"prompt type {key!r}; expected K1 from 1 to {MOST_FACTS}, here {of}")
    if k > of:
        raise ValueError(f"prompt type {key!r}; expected K from 1 to K1, which is {of}, here {k}")
    if part > n_parts(of, k):
        raise ValueError(
            f"prompt type {key!r}; expected a part from 1 to ⌈{of} / {k}⌉ = {n_parts(of, k)}"
        )
    has_instructions = bool(found["instructions"])
    title = f"Top {k} of {of}, part {part}" + ", instructions" * has_instructions
    return PromptType(key, title, TOP, "top", k, has_instructions, of=of, part=part)


def _restricted(key: str, found: re.Match[str]) -> PromptType:
    share = float(found["share"])
    evidence: RestrictedEvidence = found["evidence"]  # type: ignore[assignment]
    title = f"Restricted, {evidence}, dialog {100 * share:.0f} %"
    return PromptType(key, title, RESTRICTED, evidence, dialog_share=share)


# The paper's experiments on missing knowledge ([K] 5.2, 5.3). Pages offer these types.
LACKING: tuple[PromptType, ...] = tuple(
    prompt_type(key) for key in (*map(removal_key, (1, 2, 3)), *map(accuracy_key, ACCURACIES))
)
