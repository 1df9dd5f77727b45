"""Write ragas.jsonl, ragas_messages.jsonl and two result frames as RAGAS 0.4.3 writes them.

Metrics that ask no language model score the rows. Usage: python write_ragas.py FOLDER
"""

import json
import sys
from pathlib import Path

from ragas import EvaluationDataset, MultiTurnSample, SingleTurnSample, evaluate
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from ragas.metrics import (
    BleuScore,
    ExactMatch,
    NonLLMContextPrecisionWithReference,
    NonLLMContextRecall,
    NonLLMStringSimilarity,
    RougeScore,
    StringPresence,
    ToolCallAccuracy,
)

GIVEN = json.loads(Path(__file__).with_name("rows.json").read_text(encoding="utf-8"))


def single_turns() -> EvaluationDataset:
    return EvaluationDataset(
        [
            SingleTurnSample(
                user_input=row["question"],
                retrieved_contexts=row["contexts"],
                reference_contexts=row["reference_contexts"],
                response=row["answer"],
                reference=row["reference"],
            )
            for row in GIVEN["rows"]
        ]
    )


def message(turn):
    if turn["role"] == "user":
        return HumanMessage(content=turn["content"])
    if turn["role"] == "tool":
        return ToolMessage(content=turn["content"])
    called = [ToolCall(**turn["tool"])] if "tool" in turn else None
    return AIMessage(content=turn["content"], tool_calls=called)


def conversations() -> EvaluationDataset:
    return EvaluationDataset(
        [
            MultiTurnSample(
                user_input=[message(turn) for turn in talk["turns"]],
                reference=talk["reference"],
                reference_topics=talk["topics"],
                reference_tool_calls=[
                    ToolCall(**turn["tool"]) for turn in talk["turns"] if "tool" in turn
                ],
            )
            for talk in GIVEN["conversations"]
        ]
    )


def main(folder: Path) -> None:
    rows, talks = single_turns(), conversations()
    rows.to_jsonl(folder / "ragas.jsonl")
    talks.to_jsonl(folder / "ragas_messages.jsonl")
    of_answers = [
        ExactMatch(),
        StringPresence(),
        NonLLMStringSimilarity(),
        BleuScore(),
        RougeScore(),
    ]
    of_contexts = [NonLLMContextRecall(), NonLLMContextPrecisionWithReference()]
    scored = evaluate(rows, metrics=[*of_answers, *of_contexts], show_progress=False)
    scored.to_pandas().to_csv(folder / "ragas_result.csv", index=False)
    scored = evaluate(talks, metrics=[ToolCallAccuracy()], show_progress=False)
    scored.to_pandas().to_csv(folder / "ragas_messages_result.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
