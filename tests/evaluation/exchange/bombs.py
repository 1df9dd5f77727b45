"""Small files that become very large in memory (bombs), and mutations of sound files.

A bomb is a sound file in which random parts are made as large as fits: a list by repeated items, a
text, a value that holds very many others, a key, a cell. Some bombs are packed.
"""

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

SMALL = 1024**2
UNPACKED = (*[SMALL] * 17, 4 * SMALL, 8 * SMALL, 60 * SMALL)  # bytes of an unpacked bomb
NUMBER = "@"  # stands in a text for the number of the copy, where parts are copied


class Sound(NamedTuple):
    """A sound file of one format: a JSON tree, JSON rows, rows of a table, or lines."""

    name: str
    content: Any
    kind: str  # json, jsonl, csv, tsv, nt (lines)


TURNS = [{"speaker": "user", "text": "Why @?"}]
EVIDENCE = [{"id": "p@", "text": "Because @.", "golden": True}]
SETUP = {"model": "m@", "temperature": 0.5, "prompt": "golden", "top_p": [1, {"a": "b"}]}
PARAMETERS = {
    "filters": {"on": [], "max_evidence_tokens": 9, "tokenizer": "words", "exact_match": "keep"},
    "part": "all",
    "size": None,
    "seed": 1,
    "split_seed": 1,
}
INTERCHANGE: dict[str, dict[str, Any]] = {
    "examples": {
        "id": "e@",
        "turns": TURNS,
        "golden_answer": "So.",
        "evidence": EVIDENCE,
        "meta": {"notes": ["n@"]},
    },
    "passages": {"id": "p@", "text": "Because.", "title": "T", "url": "u"},
    "responses": {
        "id": "r@",
        "example": "e@",
        "setup": SETUP,
        "text": "So.",
        "evidence_shown": ["p@"],
        "graph_shown": [["Q@", "is", "v"]],
        "meta": {"a": "b"},
    },
    "votes": {"response": "r@", "rater": "anna@", "question": "good", "answer": "yes"},
    "scores": {"response": "r@", "metric": "m@", "score": 0.5, "details": {"a": ["b"]}},
    "flags": {"response": "r@", "rater": "anna@", "reason": "empty"},
    "adjudications": {
        "response": "r@",
        "question": "good",
        "answer": "yes",
        "note": "Seen.",
        "by": "R-@",
        "at": "2026-03-01T10:00:00+00:00",
    },
    "raters": {"rater": "anna@", "excluded": False, "gold_score": 0.5},
    "entities": {
        "qid": "Q@",
        "label": "L",
        "type": "t",
        "aliases": ["a@"],
        "text": "d",
        "triples": [{"relation": "r@", "value": "v", "value_qid": "Q@"}],
    },
    "kg_questions": {
        "id": "k@",
        "question": "Who?",
        "entities": ["Q@"],
        "retrieved": ["Q@"],
        "minimum": [["Q@", "r", "v", 1]],
    },
    "rankings": {"ranking": "m@", "example": "e@", "passage": "p-e@", "rank": 1},
    "samples": {
        "name": "s@",
        "parameters": PARAMETERS,
        "members": [{"example": "e@", "verdict": "drop", "reason": "no"}],
    },
}
LINEAR = {
    "number": "@",
    "raw_utterance": "Why?",
    "passage": "So.",
    "canonical_result_id": "d",
    "passage_id": 1,
}
TREE = [
    {"number": "1@", "participant": "User", "utterance": "Why?"},
    {
        "number": "2@",
        "parent": "1@",
        "participant": "System",
        "response": "So.",
        "provenance": ["d@"],
    },
]
RATING = {"timestamp": 1727777347.0, "duration": 14.0, "value": 4}
MTRAG = {
    "metrics": [{"name": "faithfulness", "description": "d", "values": [{"value": "1"}]}],
    "documents": [{"document_id": "d@", "title": "T", "text": "Open."}],
    "tasks": [
        {
            "task_id": "c@",
            "input": [{"speaker": "user", "text": "Hi"}],
            "contexts": [{"document_id": "d@"}],
            "targets": [{"text": "Yes."}],
            "Collection": "law",
        }
    ],
    "evaluations": [
        {
            "task_id": "c@",
            "model_id": "gpt",
            "model_response": "You may.",
            "annotations": {"faithfulness": {"11": RATING}, "rl_f": {"composite": {"value": 1}}},
        }
    ],
}
QRECC = {
    "Context": ["Who @?", "Ada."],
    "Question": "When?",
    "Rewrite": "When was Ada born?",
    "Answer": "1815",
    "Answer_URL": "https://a.example/@",
    "Conversation_no": 1,
    "Turn_no": 2,
    "Conversation_source": "trec",
}
AIS = {
    "ex-idx": "e@",
    "doc-url": "u",
    "doc-url-hash": "h",
    "model-name": "m",
    "output": "So.",
    "INT": "1",
    "INT & AIS": "1",
    "Flagged": "0",
    "Q1": "Yes",
    "Q2": "Yes",
    "# agree (INT)": "5",
    "# agree (AIS)": "4",
}
BEGIN = {
    "model_name": "m",
    "data_source": "s",
    "knowledge": "k@",
    "message": "Hi @",
    "response": "So.",
    "begin_label": "Generic",
}
TABLE = {
    "question": "Who @?",
    "contexts": ["k@", {"text": "t", "title": "x"}],
    "reference_contexts": "g@",
    "answer": "So.",
    "model": "m",
    "session_id": "d@",
    "ground_truth": "y",
    "cost": "3",
}
SCORES = [{"name": "m@", "score": 0.5}, {"name": "n", "error": "none"}]
DEEPEVAL = {
    "testCases": [{"input": "Who @?", "actualOutput": "So.", "metricsData": SCORES}],
    "conversationalTestCases": [
        {"turns": [{"role": "user", "content": "Hi @"}, {"role": "assistant", "content": "So."}]}
    ],
    "metricsScores": [],
    "identifier": "m",
}
PROMPTFOO = {
    "results": {
        "results": [
            {
                "testIdx": 1,
                "promptIdx": 0,
                "vars": {"question": "Who @?", "context": "k@"},
                "provider": {"id": "m", "label": "l"},
                "prompt": {"raw": "Who?", "label": "p@"},
                "response": {"output": "So."},
                "namedScores": {"a@": 1},
                "score": 0.5,
            }
        ]
    }
}
LABEL_STUDIO = {
    "id": 1,
    "data": {"question": "Who @?", "answer": "So.", "t": "u"},
    "annotations": [
        {
            "completed_by": {"email": "a@"},
            "result": [{"from_name": "good", "value": {"choices": ["yes"]}}],
            "lead_time": 2.5,
            "created_at": "2026-05-03T10:00:00Z",
            "ground_truth": True,
        }
    ],
    "predictions": [
        {
            "model_version": "j",
            "score": 0.5,
            "result": [{"from_name": "n", "value": {"rating": 4}}],
        }
    ],
}
WICE = {
    "claim": "So.",
    "evidence": ["a@", "b"],
    "supporting_sentences": [[0, 1]],
    "label": "supported",
    "meta": {"id": "i@", "claim_title": "t"},
}
QAGS = {
    "article": "Long @.",
    "summary_sentences": [{"sentence": "So.", "responses": [{"worker_id": 1, "response": "yes"}]}],
}
FED = {
    "context": "User: Hi @",
    "response": "System: So.",
    "system": "m",
    "annotations": {"Fluent": [1, 2, "N/A (x)"]},
}
INFOTABS = {
    "table_id": "T@",
    "hypothesis": "So @.",
    "first_human_label": "0",
    "other_human_labels": [0, 2],
    "other_worker_id": "['VW@', 'VW2']",
}
LANGFUSE = {
    "id": "g@",
    "trace_id": "t@",
    "type": "GENERATION",
    "start_time": "2026-10-22 13:46:19.963000",
    "session_id": "s@",
    "provided_model_name": "m",
    "input": {"messages": [{"role": "user", "content": "Who @?"}], "tools": ["a"]},
    "output": {"role": "assistant", "content": [{"type": "text", "text": "So."}]},
}
MESSAGES = {"user_input": [{"role": "user", "content": "Who @?"}], "response": "So."}
TRIPLES = {
    "qid": "Q@",
    "relation": "r@",
    "value": "v@",
    "label": "L@",
    "type": "t",
    "aliases": "a|b",
    "value_qid": "Q@",
}
EX = "http://e.example/"
NT = [
    f'<{EX}s@> <{EX}p@> "v@" .',
    f"<{EX}s@> <{EX}p> <{EX}o@> .",
    f'<{EX}s@> <http://www.w3.org/2000/01/rdf-schema#label> "n@"@en .',
    f"<{EX}p@> <http://wikiba.se/ontology#directClaim> <{EX}d@> .",
    f"<{EX}p@> <http://wikiba.se/ontology#propertyType> <http://wikiba.se/ontology#ExternalId> .",
]
RUN = ["e@ Q0 p-e@ 1 2.5 m", "e1 Q0 p-e@ 2 1.5 m@", "e@ Q0 p@ 3 0.5 m"]
_QRECC = Sound("qrecc.json", [QRECC], "json")
SOUND: dict[str, list[Sound]] = {
    "interchange": [
        *(Sound(f"{kind}.jsonl", [row], "jsonl") for kind, row in INTERCHANGE.items()),
        *(Sound(f"{kind}.csv", [row], "csv") for kind, row in INTERCHANGE.items()),
    ],
    "table": [
        Sound("answers.csv", [TABLE], "csv"),
        Sound("answers.jsonl", [TABLE], "jsonl"),
        Sound("messages.jsonl", [MESSAGES], "jsonl"),
        Sound("deepeval.json", DEEPEVAL, "json"),
        Sound("promptfoo.json", PROMPTFOO, "json"),
        Sound("label_studio.json", [LABEL_STUDIO], "json"),
        Sound("wice.jsonl", [WICE], "jsonl"),
        Sound("qags.jsonl", [QAGS], "jsonl"),
        Sound("fed.json", [FED], "json"),
        Sound("infotabs.tsv", [INFOTABS], "tsv"),
        Sound("langfuse.jsonl", [LANGFUSE], "jsonl"),
    ],
    "mtrag": [Sound("mtrag.json", MTRAG, "json")],
    "ais": [Sound("ais.csv", [AIS], "csv")],
    "begin": [Sound("begin.tsv", [BEGIN], "tsv")],
    "treccast": [
        Sound("topics.json", [{"number": "@", "turn": [LINEAR]}], "json"),
        Sound("topics.json", [{"number": "@", "turn": TREE}], "json"),
    ],
    "biokalma": [
        Sound("questions.json", [["Why @?", [{"qid": "Q@", "name": "n", "is": "v"}]]], "json")
    ],
    "ntriples": [Sound("graph.nt", NT, "nt")],
    "trec-run": [Sound("dense.run", RUN, "nt")],
    "triples": [Sound("graph.csv", [TRIPLES], "csv"), Sound("graph.tsv", [TRIPLES], "csv")],
    "qrecc": [_QRECC],
    "qrecc-as-asked": [_QRECC],
}


# --- bombs ----------------------------------------------------------------------------------


def write_bomb(folder: Path, format: str, random: Random) -> Path:
    """Write a bomb of at most 1 MB; return its path."""
    sound = random.choice(SOUND[format])
    for n_bytes in sorted({random.choice(UNPACKED), SMALL - 4096}, reverse=True):
        content = _bomb(sound, n_bytes, random)[:n_bytes]
        name, packed = _packed(sound.name, content, random, is_large=n_bytes >= SMALL)
        if len(packed) <= SMALL:
            break
    (folder / name).write_bytes(packed[:SMALL])
    return folder / name


def _packed(name: str, content: bytes, random: Random, *, is_large: bool) -> tuple[str, bytes]:
    how = random.choice(["zip", "gz"] if is_large else ["", "", "zip"])
    if how == "gz":
        return f"{name}.gz", gzip.compress(content, mtime=0)
    if how == "":
        return name, content
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        if name.startswith("votes") and random.random() < 0.5:
            archive.writestr("study.json", _large_value(random, len(content) // 2))
    return "bomb.zip", packed.getvalue()


def _bomb(sound: Sound, n_bytes: int, random: Random) -> bytes:
    if sound.kind == "nt":
        return _lines(_with_a_long_part(sound.content, n_bytes, random), n_bytes, random).encode()
    content = json.loads(json.dumps(sound.content))
    is_list = isinstance(content, list)
    is_many = is_list and random.random() < 0.7
    share = random.choice([2, 10, 1000]) if is_many else 1
    parts = _large_parts(content[0] if is_list else content, n_bytes * 9 // 10 // share, random)
    n_copied = n_bytes if is_many else 0
    if sound.kind in ("csv", "tsv"):
        return _table(content[0], sound.kind, parts, n_copied, random).encode()
    if sound.kind == "jsonl":
        line = _filled(json.dumps(content[0]), parts) + "\n"
        return _copies(line, n_copied, random).encode()
    if is_many:
        items = _copies(_filled(json.dumps(content[0]), parts) + ",", n_bytes, random)
        return f"[{items[:-1]}]".encode()
    return _copies(_filled(json.dumps(content), parts), 0, random).encode()


def _large_parts(tree: Any, n_bytes: int, random: Random) -> list[str]:
    """Put marks into a tree; return the large parts, as JSON, that belong in their places."""
    parts: list[str] = []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        holder, key = random.choice(list(_places(tree)))
        old, holder[key] = holder[key], _mark(len(parts))
        if _mark(0)[:-1] in json.dumps(old, ensure_ascii=False):
            holder[key] = old
            continue
        size = n_bytes // random.choice([2, 3, 4] if parts else [1, 2])
        parts.append(_large(old, size, random))
        if isinstance(holder, dict) and random.random() < 0.1:
            holder["k" * min(size, n_bytes // 2)] = holder.pop(key)
    return parts


def _mark(number: int) -> str:
    return f"§{number}"


def _filled(written: str, parts: list[str]) -> str:
    for number, part in enumerate(parts):
        written = written.replace(f'"\\u00a7{number}"', part)
    return written


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (holder, key) of every value in a tree."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def _large(old: Any, n_bytes: int, random: Random) -> str:
    """Return a large value, as JSON, that replaces `old`."""
    if isinstance(old, list) and old and random.random() < 0.6:
        return f"[{_copies(json.dumps(old)[1:-1] + ',', n_bytes, random)[:-1]}]"
    if isinstance(old, dict) and old and random.random() < 0.5:
        key, value = random.choice(list(old.items()))
        pair = f'"{key}@": {json.dumps(value)},'
        return f"{{{_copies(pair, n_bytes, random, is_numbered=True)[:-1]}}}"
    return _large_value(random, n_bytes)


def _large_value(random: Random, n_bytes: int) -> str:
    makers: list[Callable[[int], str]] = [
        lambda n: '"' + "x" * n + '"',
        lambda n: '"😀' + "x " * (n // 2) + '"',
        lambda n: '"' + "\\u00e9\\\\" * (n // 8) + '"',
        lambda n: "[" + "[]," * (n // 3) + "[]]",
        lambda n: "[" + "0," * (n // 2) + "0]",
        lambda n: "[" + "1.5e10," * (n // 7) + "0]",
        lambda n: "[" + '{"a":0},' * (n // 8) + "{}]",
        lambda n: "[" + '"ab",' * (n // 5) + '""]',
        lambda n: "{" + ",".join(f'"k{i}":[]' for i in range(n // 12)) + "}",
        lambda n: "[" + ",".join(["[" * 20 + "]" * 20] * (n // 41)) + "]",
        lambda n: "[" * (n // 2) + "]" * (n // 2),
        lambda n: "9" * min(n, 5000),
        lambda n: "[" + ",".join(f'"{i}"' for i in range(n // 9)) + "]",
    ]
    return random.choice(makers)(max(0, n_bytes - 2))


def _copies(pattern: str, n_bytes: int, random: Random, *, is_numbered: bool | None = None) -> str:
    """Return as many copies as fit (at least one), each with its own number, or all with 0."""
    n = max(1, n_bytes // (len(pattern) + 4))
    if is_numbered or (is_numbered is None and random.random() < 0.8):
        return "".join(pattern.replace(NUMBER, str(i)) for i in range(n))
    return pattern.replace(NUMBER, "0") * n


def _table(row: dict[str, Any], kind: str, parts: list[str], n_bytes: int, random: Random) -> str:
    mark = "\t" if kind == "tsv" else ","
    cells = [_cell(value, parts, kind) for value in row.values()]
    names = list(row)
    if random.random() < 0.15:
        n_more = random.choice([1000, 100_000, n_bytes // 8])
        names += [f"c{i}" for i in range(n_more)]
        cells += [random.choice(["", "x"])] * n_more
    line = mark.join(cells) + "\n"
    return mark.join(names) + "\n" + _copies(line, n_bytes, random)


def _cell(value: Any, parts: list[str], kind: str) -> str:
    written = _filled(json.dumps(value), parts)
    if written.startswith('"'):
        written = written[1:-1]
    return written.replace("\t", " ") if kind == "tsv" else '"' + written.replace('"', '""') + '"'


def _with_a_long_part(lines: list[str], n_bytes: int, random: Random) -> list[str]:
    chosen = random.sample(lines, random.randint(1, len(lines)))
    if random.random() < 0.5:
        longer = "x" * random.choice([10, 1000, 1900, n_bytes // 3])
        place = random.choice(["s@", "p@", "v@", "o@", "n@"])
        chosen = [line.replace(place, longer + place) for line in chosen]
    if random.random() < 0.3:  # all triples have one subject
        chosen = [line.replace("s@", "s") for line in chosen]
    return chosen


def _lines(lines: list[str], n_bytes: int, random: Random) -> str:
    return _copies("\n".join(lines) + "\n", n_bytes, random)


# --- mutations ------------------------------------------------------------------------------


def sound_bytes(sound: Sound, n_rows: int = 3) -> bytes:
    """Return a small sound file."""
    random = Random(0)
    if sound.kind == "nt":
        return "".join(f"{line}\n" for line in sound.content).replace(NUMBER, "1").encode()
    if sound.kind in ("csv", "tsv"):
        mark = "\t" if sound.kind == "tsv" else ","
        cells = [_cell(value, [], sound.kind) for value in sound.content[0].values()]
        header = mark.join(sound.content[0]) + "\n"
        line = mark.join(cells) + "\n"
        return (header + "".join(line.replace(NUMBER, str(i)) for i in range(n_rows))).encode()
    if sound.kind == "jsonl":
        line = json.dumps(sound.content[0]) + "\n"
        return "".join(line.replace(NUMBER, str(i)) for i in range(n_rows)).encode()
    return _copies(json.dumps(sound.content), 0, random).encode()


WORDS = (
    b"\0",
    b"\xff",
    b"\xe9",
    b"\xef\xbb\xbf",
    b"[" * 50,
    b"{" * 50,
    b"[]",
    b"{}",
    b"null",
    b"true",
    b"-1",
    b"1e308",
    b"1e999",
    b"NaN",
    b"9" * 30,
    b"9" * 5000,
    b'"',
    b'""',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b",",
    b":",
    b"\n",
    b"\r",
    b"\t",
    b";",
    b"'",
    b"x" * 300,
    b" " * 10,
    b"\xf0\x9f\x98\x80",
    b"<a:b>",
    b"_:b",
    b"^^",
    b"@en",
)


def mutated(content: bytes, random: Random) -> bytes:
    """Return a file with some places changed: cut, repeated, moved, replaced, or a bit flipped."""
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        at = random.randrange(len(changed) + 1)
        end = min(len(changed), at + random.choice([0, 1, 1, 4, 20, 200]))
        match random.randrange(5):
            case 0:
                changed[at:end] = random.choice(WORDS)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] * random.choice([1, 2, 50])
            case 3 if end > at:
                changed[at] ^= 1 << random.randrange(8)
            case _:
                part = changed[at:end]
                del changed[at:end]
                to = random.randrange(len(changed) + 1)
                changed[to:to] = part
    return bytes(changed)
