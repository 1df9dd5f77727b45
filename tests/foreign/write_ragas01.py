"""Write the files of a user of RAGAS 0.1.22: a Hugging Face data set in three forms, and a result.

The data set is written by `datasets` 2.21.0. The one metric compares letters in place of learned
embeddings, and its language model is never asked. Usage: python write_ragas01.py FOLDER
"""

import json
import sys
from pathlib import Path

from datasets import Dataset
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListLLM
from ragas import evaluate
from ragas.metrics import answer_similarity

ROWS = json.loads(Path(__file__).with_name("rows.json").read_text(encoding="utf-8"))["rows"]


class Letters(Embeddings):
    """Embeddings that count each letter from a to z; a text without any makes the score NaN."""

    def embed_query(self, text):
        return [text.lower().count(chr(letter)) for letter in range(ord("a"), ord("z") + 1)]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def main(folder: Path) -> None:
    rows = Dataset.from_dict(
        {
            "question": [row["question"] for row in ROWS],
            "contexts": [row["contexts"] for row in ROWS],
            "answer": [row["answer"] for row in ROWS],
            "ground_truth": [row["reference"] for row in ROWS],
        }
    )
    rows.to_json(folder / "ragas01.jsonl")
    rows.to_parquet(folder / "ragas01.parquet")
    rows.save_to_disk(folder / "ragas01_dataset")
    scored = evaluate(
        rows, metrics=[answer_similarity], llm=FakeListLLM(responses=[""]), embeddings=Letters()
    )
    scored.to_pandas().to_csv(folder / "ragas01_result.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
