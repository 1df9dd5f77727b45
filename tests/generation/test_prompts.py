"""Prompt files against the papers that they come from, where those are at hand."""

import pytest

from generation.text.prompts import prompt_text
from tests.published import shared_folder

SOURCES = shared_folder() / "seeds"
TABLES = {11: "coherence", 12: "consistency", 13: "fluency", 14: "relevance"}


def paper(name: str) -> str:
    """Return a paper's text as one line."""
    if not (path := SOURCES / name).is_file():
        pytest.skip(f"no {path}")
    return " ".join(path.read_text("utf-8").split())


def test_the_sensibleness_prompt_is_the_papers_to_the_letter():
    text = paper("003_e6980c69f71442db.txt")
    printed = text.partition("9.4 Final Sensibleness Prompt ")[2]

    assert printed.startswith("Instructions: Does B’s final reply")
    assert " ".join(prompt_text("sensible").split()) == printed.strip()


@pytest.mark.parametrize("table", TABLES)
def test_the_g_eval_prompts_are_the_papers_to_the_letter(table):
    text = paper("004_e2c0e47a14cca2df.txt")
    printed = text.partition(f" - Table {table}: Instruction for text evaluation")[0]
    printed = printed[printed.rindex("Instruction: You will be given") :]

    own = " ".join(prompt_text(f"geval_{TABLES[table]}").split())

    assert printed.endswith("based on the Evaluation Criteria.")
    assert own.startswith(f"{printed} Reply with the score alone, a single integer from 1 to 5.")


def test_the_source_at_the_top_of_a_file_is_no_part_of_its_prompt():
    assert prompt_text("specific").startswith("Instructions: ")
    assert prompt_text("geval_fluency").startswith("Instruction: You")


def test_an_unknown_prompt_is_an_error():
    with pytest.raises(FileNotFoundError):
        prompt_text("unheard_of")
