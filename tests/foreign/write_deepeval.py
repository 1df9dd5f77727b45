"""Write the files that deepeval 4.3.1 keeps of a run of answers and of a run of conversations.

deepeval.json and deepeval_turns.json are its `.latest_test_run.json`, deepeval_run.json is the file
in its results folder. The metrics ask no language model. Usage: python write_deepeval.py FOLDER
"""

import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn
from deepeval_metrics import Retrieved, SharedWords, Turns

GIVEN = json.loads(Path(__file__).with_name("rows.json").read_text(encoding="utf-8"))


def answer(place, row):
    return LLMTestCase(
        name=f"row {place}",
        input=row["question"],
        actual_output=row["answer"],
        expected_output=row["reference"],
        context=row["reference_contexts"],
        retrieval_context=row["contexts"],
        metadata={"place": place},
    )


def conversation(talk):
    turns = []
    for turn in talk["turns"]:
        tool = turn.get("tool")
        if turn["role"] == "tool":
            turns[-1].tools_called[0].output = turn["content"]
        else:
            called = tool and [ToolCall(name=tool["name"], input_parameters=tool["args"])]
            turns.append(Turn(role=turn["role"], content=turn["content"], tools_called=called))
    return ConversationalTestCase(
        turns=turns, scenario=talk["topics"][0], expected_outcome=talk["reference"]
    )


def run(cases, metrics, **named):
    """Return the two files that deepeval writes, run in the current folder."""
    shutil.rmtree("runs", ignore_errors=True)
    evaluate(
        cases,
        metrics,
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(print_results=False, results_folder="runs"),
        error_config=ErrorConfig(ignore_errors=True),
        **named,
    )
    return Path(".deepeval/.latest_test_run.json"), next(Path("runs").glob("*.json"))


def main(folder: Path) -> None:
    answers = [answer(place, row) for place, row in enumerate(GIVEN["rows"], 1)]
    setup = {"model": "keeper", "chunk size": 200, "temperature": 0.0}
    latest, saved = run(
        answers, [SharedWords(), Retrieved()], hyperparameters=setup, identifier="keeper"
    )
    shutil.copy(latest, folder / "deepeval.json")
    shutil.copy(saved, folder / "deepeval_run.json")
    latest, saved = run([conversation(talk) for talk in GIVEN["conversations"]], [Turns()])
    shutil.copy(latest, folder / "deepeval_turns.json")


if __name__ == "__main__":
    with TemporaryDirectory() as work:
        target = Path(sys.argv[1]).resolve()
        os.chdir(work)
        main(target)
