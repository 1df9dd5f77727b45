"""Published labels, one per response, as interchange folders; `published` has votes of several.

Each `write_…(shared, folder)` turns raw files of the folder of real data (ATTEST_SHARED) into an
interchange folder with one vote per response, yes or no.
"""

import csv
import json
import re
from pathlib import Path
from typing import Any

from tests.published import example_row, response_row, vote_row, write_folder

PUBLISHED = "published"  # the rater of a label that is published without votes
EXPERT_SAYS_YES = {"Complete": "yes", "Partial": "no", "Incomplete": "no", "Missing": "no"}


def write_q2(shared: Path, folder: Path) -> None:
    """Write Q2 cross annotation: two systems' answers to a turn; label 0 is yes, 1 inconsistent."""
    examples, responses, votes = [], [], []
    with (shared / "data/q2_cross/cross_annotation.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            key = f"q2-{number}"
            evidence = {"id": f"{key}-knowledge", "text": row["knowledge"], "golden": True}
            examples.append(_chat(key, f"q2-{row['episode_idx']}", row["message"], evidence))
            for system in ("dodeca", "memnet"):
                answer = f"{key}-{system}"
                text = row[f"{system}_response"]
                responses.append(response_row(answer, key, system, text, evidence))
                is_yes = row[f"{system}_label"] == "0"
                votes.append(vote_row(answer, PUBLISHED, "consistent", "yes" if is_yes else "no"))
    scheme = _yes_no("q2", "consistent", "Is the answer consistent with the knowledge?")
    write_folder(folder, examples, responses, votes, scheme)


def write_faithdial(shared: Path, folder: Path) -> None:
    """Write FaithDial's audit: only entailment is a yes; one knowledge text is one dialog."""
    examples, responses, votes = [], [], []
    dialogs: dict[str, int] = {}
    names = {
        "gold": ("evidence", "response", "BEGIN"),
        "gpt2": ("knowledge", "gpt2", "begin_label"),
    }
    for file, (knowledge, reply, label) in names.items():
        wow = "gold_wow" if file == "gold" else "gpt2_processed_wow"
        path = shared / f"data/faithdial_audit/{wow}.csv"
        with path.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        for number, row in enumerate(rows):
            key = f"faithdial-{file}-{number}"
            dialog = dialogs.setdefault(row[knowledge], len(dialogs))
            evidence = {"id": f"{key}-knowledge", "text": row[knowledge], "golden": True}
            examples.append(_chat(key, f"faithdial-{dialog}", row["history"], evidence))
            responses.append(response_row(key, key, file, row[reply], evidence))
            is_yes = row[label].strip().lower() == "entailment"
            votes.append(vote_row(key, PUBLISHED, "attributable", "yes" if is_yes else "no"))
    scheme = _yes_no("faithdial", "attributable", "Does the knowledge entail the response?")
    write_folder(folder, examples, responses, votes, scheme)


def write_wice(shared: Path, folder: Path) -> None:
    """Write WiCE: a claim per example, its web pages as one passage; only `supported` is a yes."""
    examples, responses, votes = [], [], []
    text = (shared / "data/wice/wice_claim_dev.jsonl").read_text("utf-8")
    for item in map(json.loads, text.splitlines()):
        key = item["meta"]["id"]
        pages = {"id": f"{key}-pages", "text": "\n".join(item["evidence"]), "golden": True}
        title = item["meta"]["claim_title"]
        examples.append(example_row(key, title, f"State a fact about {title}.", pages))
        responses.append(response_row(key, key, "claim", item["claim"], pages))
        is_yes = item["label"] == "supported"
        votes.append(vote_row(key, PUBLISHED, "supported", "yes" if is_yes else "no"))
    scheme = _yes_no("wice", "supported", "Do the pages support the claim?")
    write_folder(folder, examples, responses, votes, scheme)


def write_expertqa(shared: Path, folder: Path) -> None:
    """Write ExpertQA: the claims that cite a page whose text is in the file, without their `[n]`.

    Only `Complete` is a yes. A claim without a judgement (`N/A`, null) is left out.
    """
    examples, responses, votes = [], [], []
    text = (shared / "data/expertqa/rand_val.jsonl").read_text("utf-8")
    for number, item in enumerate(map(json.loads, text.splitlines())):
        claims = [claim for answer in item["answers"].values() for claim in answer["claims"]]
        for place, claim in enumerate(claims):
            pages = [page.partition("\n\n")[2].strip() for page in claim["evidence"]]
            if not any(pages) or claim["support"] not in EXPERT_SAYS_YES:
                continue
            key = f"expertqa-{number}-{place}"
            evidence = [
                {"id": f"{key}-{n}", "text": page, "golden": True}
                for n, page in enumerate(pages)
                if page
            ]
            example = example_row(key, f"expertqa-{number}", item["question"], evidence[0])
            examples.append(example | {"evidence": evidence})
            stated = re.sub(r"\s*\[\d+\]", "", claim["claim_string"])
            response = response_row(key, key, "gpt4", stated, evidence[0])
            responses.append(response | {"evidence_shown": [each["id"] for each in evidence]})
            votes.append(vote_row(key, "expert", "supported", EXPERT_SAYS_YES[claim["support"]]))
    scheme = _yes_no("expertqa", "supported", "Do the cited pages support the claim?")
    write_folder(folder, examples, responses, votes, scheme)


def _chat(key: str, dialog: str, message: str, evidence: dict[str, Any]) -> dict[str, Any]:
    """Return an example; its dialog is unknown where no message comes before the response."""
    row = example_row(key, dialog, message, evidence)
    return row if message.strip() else row | {"turns": None}


def _yes_no(scheme: str, question: str, wording: str) -> dict[str, Any]:
    return {
        "key": scheme,
        "questions": [{"key": question, "wording": wording, "scale": "yes_no"}],
    }
