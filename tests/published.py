"""Published ratings as interchange folders, and as raw vote matrices that bypass our code.

Each `write_…(shared, folder)` turns raw files of the folder of real data (ATTEST_SHARED) into an
interchange folder. Each `…_matrix(shared)` returns {question: one list of answers per item} from
the raw files; the krippendorff and statsmodels packages compute on these, for comparison.
"""

import ast
import csv
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Matrix = dict[str, list[list[str]]]

INFOTABS_LABELS = ["entailed", "neutral", "contradicted"]  # codes 0, 1, 2
FED_SCALES = {
    "Interesting": 2,
    "Engaging": 2,
    "Specific": 2,
    "Relevant": 2,
    "Correct": 2,
    "Semantically appropriate": 2,
    "Understandable": 1,
    "Fluent": 2,
    "Overall": 4,
}
FED_ITEMS_PER_DIALOG = 4  # three turns and the dialog as a whole
FED_STAND_IN = "Semantically appropriate"  # stands for 'sensible', which FED does not ask
FED_CUT = 2  # ratings are from 0 to 2; one of at least this is a yes


def shared_folder() -> Path:
    """Return the folder of real data; it need not exist."""
    default = Path(__file__).resolve().parents[1].parent / "shared"
    return Path(os.environ.get("ATTEST_SHARED", default))


def write_qags(shared: Path, folder: Path) -> None:
    """Write QAGS-XSum: an example per article, a response per summary sentence, three workers."""
    examples, responses, votes = [], [], []
    for number, item in enumerate(_qags_items(shared)):
        example = f"qags-{number}"
        evidence = {"id": f"{example}-article", "text": item["article"], "golden": True}
        examples.append(example_row(example, example, "Summarise the article.", evidence))
        for index, sentence in enumerate(item["summary_sentences"]):
            response = f"{example}-{index}"
            responses.append(
                response_row(response, example, "summary", sentence["sentence"], evidence)
            )
            votes += [
                vote_row(response, f"w{vote['worker_id']}", "supported", vote["response"])
                for vote in sentence["responses"]
            ]
    scheme = {
        "key": "qags",
        "questions": [
            {
                "key": "supported",
                "wording": "Is the sentence supported by the article?",
                "scale": "yes_no",
            }
        ],
    }
    write_folder(folder, examples, responses, votes, scheme)


def write_infotabs(shared: Path, folder: Path) -> None:
    """Write InfoTabS: an example per table, a response per claim, about five workers each.

    When a worker votes twice on one claim (6 claims), the second vote's rater gets a suffix: `VW3`,
    `VW3#2`.
    """
    tables = json.loads((shared / "data/infotabs_votes/tables_dev.json").read_text("utf-8"))
    examples, responses, votes = [], [], []
    evidence: dict[str, dict[str, Any]] = {}
    for number, item in enumerate(_infotabs_items(shared)):
        table = item["table_id"]
        if table not in evidence:
            lines = [f"{name}: {', '.join(values)}" for name, values in tables[table].items()]
            evidence[table] = {
                "id": f"{table}-table",
                "title": tables[table]["title"][0],
                "text": "\n".join(lines),
                "golden": True,
            }
            examples.append(
                example_row(table, table, "State a fact of the table.", evidence[table])
            )
        response = f"infotabs-{number}"
        claim = item["hypothesis"]
        responses.append(response_row(response, table, "claim", claim, evidence[table]))
        workers = _distinct(ast.literal_eval(item["other_worker_id"]))
        codes = json.loads(item["other_human_labels"])
        votes += [
            vote_row(response, worker, "entailment", INFOTABS_LABELS[code])
            for worker, code in zip(workers, codes, strict=True)
        ]
    scheme = {
        "key": "infotabs",
        "questions": [
            {
                "key": "entailment",
                "wording": "Does the table entail the claim?",
                "scale": {"nominal": INFOTABS_LABELS},
            }
        ],
    }
    write_folder(folder, examples, responses, votes, scheme)


def write_fed(shared: Path, folder: Path) -> None:
    """Write FED's turn-level items: the rated reply to its dialog; raters = places in the lists."""
    examples, responses, votes = [], [], []
    for number, item in _fed_items(shared):
        example = f"fed-{number}"
        turns = []
        for line in item["context"].split("\n"):
            speaker, _, text = line.partition(": ")
            turns.append({"speaker": speaker.lower(), "text": text})
        dialog = f"fed-dialog-{number // FED_ITEMS_PER_DIALOG}"
        examples.append({"id": example, "dialog": dialog, "turns": turns, "evidence": []})
        text = item["response"].partition(": ")[2]
        responses.append(response_row(example, example, item["system"], text, None))
        votes += [
            vote_row(example, str(place), _fed_key(quality), str(rating))
            for quality in FED_SCALES
            for place, rating in enumerate(item["annotations"][quality], start=1)
            if isinstance(rating, int)
        ]
    scheme = {
        "key": "fed",
        "questions": [
            {"key": _fed_key(name), "wording": name, "scale": {"ordinal": [0, highest]}}
            for name, highest in FED_SCALES.items()
        ],
    }
    write_folder(folder, examples, responses, votes, scheme)


def write_fed_sensible(shared: Path, folder: Path) -> None:
    """Write FED's `FED_STAND_IN` as yes/no votes on `sensible`, for dialogs 2, 4, 6 and so on.

    The other dialogs are `fed_lessons`.
    """
    examples, responses, votes = [], [], []
    for number, item in _fed_items(shared):
        if not _is_reported(number):
            continue
        example = f"fed-{number}"
        dialog = f"fed-dialog-{number // FED_ITEMS_PER_DIALOG}"
        turns, text = _fed_reply(item)
        said = [{"speaker": speaker, "text": turn} for speaker, turn in turns]
        examples.append({"id": example, "dialog": dialog, "turns": said, "evidence": []})
        responses.append(response_row(example, example, item["system"], text, None))
        votes += [
            vote_row(example, str(place), "sensible", "yes" if rating >= FED_CUT else "no")
            for place, rating in enumerate(item["annotations"][FED_STAND_IN], start=1)
        ]
    question = {"key": "sensible", "wording": FED_STAND_IN, "scale": "yes_no"}
    write_folder(
        folder, examples, responses, votes, {"key": "fed-sensible", "questions": [question]}
    )


def fed_lessons(shared: Path) -> list[tuple[int, list[tuple[str, str]], str, float]]:
    """Return dialog, turns, reply and rater score (share of yes) of the dialogs not reported on."""
    lessons = []
    for number, item in _fed_items(shared):
        if not _is_reported(number):
            ratings = item["annotations"][FED_STAND_IN]
            score = sum(rating >= FED_CUT for rating in ratings) / len(ratings)
            lessons.append((number // FED_ITEMS_PER_DIALOG, *_fed_reply(item), score))
    return lessons


def _is_reported(number: int) -> bool:
    return number // FED_ITEMS_PER_DIALOG % 2 == 1


def qags_matrix(shared: Path) -> Matrix:
    return {
        "supported": [
            [vote["response"] for vote in sentence["responses"]]
            for item in _qags_items(shared)
            for sentence in item["summary_sentences"]
        ]
    }


def infotabs_matrix(shared: Path) -> Matrix:
    items = _infotabs_items(shared)
    return {
        "entailment": [
            [INFOTABS_LABELS[code] for code in json.loads(item["other_human_labels"])]
            for item in items
        ]
    }


def fed_matrix(shared: Path) -> Matrix:
    """Return ratings as digits; texts ('N/A (…') are left out, so a list may be shorter."""
    items = [item for _, item in _fed_items(shared)]
    return {
        _fed_key(quality): [
            [str(rating) for rating in item["annotations"][quality] if isinstance(rating, int)]
            for item in items
        ]
        for quality in FED_SCALES
    }


def fed_replies(shared: Path) -> list[tuple[list[tuple[str, str]], str]]:
    """Return the turns (speaker, text) before each rated reply, and the reply."""
    return [_fed_reply(item) for _, item in _fed_items(shared)]


def _fed_reply(item: dict[str, Any]) -> tuple[list[tuple[str, str]], str]:
    lines = [line.partition(": ") for line in item["context"].split("\n")]
    return [(speaker.lower(), text) for speaker, _, text in lines], item["response"].partition(
        ": "
    )[2]


def _qags_items(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "data/qags/mturk_xsum.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _infotabs_items(shared: Path) -> list[dict[str, str]]:
    path = shared / "data/infotabs_votes/infotabs_valid_dev.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _fed_items(shared: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (place in the file, item) of the turn-level items."""
    items = json.loads((shared / "data/fed/fed_data_part1.json").read_text("utf-8"))
    return ((number, item) for number, item in enumerate(items) if "response" in item)


def _fed_key(quality: str) -> str:
    return quality.lower().replace(" ", "_")


def _distinct(workers: Iterable[str]) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for worker in workers:
        seen[worker] = seen.get(worker, 0) + 1
        names.append(worker if seen[worker] == 1 else f"{worker}#{seen[worker]}")
    return names


def example_row(key: str, dialog: str, prompt: str, evidence: dict[str, Any]) -> dict[str, Any]:
    turns = [{"speaker": "user", "text": prompt}]
    return {"id": key, "dialog": dialog, "turns": turns, "evidence": [evidence]}


def response_row(
    key: str, example: str, setup: str, text: str, evidence: dict[str, Any] | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key, "example": example, "setup": setup, "text": text}
    return row if evidence is None else row | {"evidence_shown": [evidence["id"]]}


def vote_row(response: str, rater: str, question: str, answer: str) -> dict[str, str]:
    return {"response": response, "rater": rater, "question": question, "answer": answer}


def write_folder(
    folder: Path,
    examples: list[dict[str, Any]],
    responses: list[dict[str, Any]],
    votes: list[dict[str, str]],
    scheme: dict[str, Any],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("examples", examples), ("responses", responses)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    with (folder / "votes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["response", "rater", "question", "answer"])
        writer.writeheader()
        writer.writerows(votes)
    (folder / "scheme.json").write_text(json.dumps(scheme, indent=2), encoding="utf-8")
