"""The commands that fill the database, and those that print the same output when run again."""

from pathlib import Path

Command = tuple[str, ...]

ATTRIBUTION, SENSIBLENESS, OPEN = (
    "Demo: attribution (simulated raters)",
    "Demo: sensibleness (simulated raters)",
    "Demo: rate these yourself",
)
GRAPH = "Demo graph"
FORMATS = ("table", "json", "csv", "latex")
GRID = """name = "{dataset}, all types"
prompts = ["no-evidence", "golden", "golden-instructions", "retrieved-2",
  "retrieved-2-instructions", "retrieved-3", "retrieved-3-instructions", "one-shot"]
temperatures = [0.0]

[[models]]
name = "extractive"
"""
PUBLISHED = {
    "mtrag": "mtrag_human_eval/mtrag_human_eval_part1.json",
    "begin": "begin/begin_dev_cmu.tsv",
    "qrecc": "qrecc_sample/qrecc_test_sample.json",
    "biokalma": "biokalma/simple_question_graph.json",
}


def recipe(dataset: str) -> Command:
    return ("run_recipe", dataset, "--model", "extractive", "--k1", "3", "--k2", "2")


# Each is run again in every format, on material that has been asked and scored already.
REPEATED_DEMO: list[Command] = [
    recipe("Demo"),
    ("calibrate", "--study", ATTRIBUTION, "--backend", "lexical", "--flavors", "v1", "v3"),
    *(
        ("run_kg_experiment", key, "--dataset", GRAPH, "--models", "extractive", "--seeds", "0")
        for key in ("citations", "accuracy")
    ),
    ("run_kg_experiment", "removal", "--dataset", GRAPH, "--models", "extractive"),
]
REPEATED_PUBLISHED: list[Command] = [recipe("mtrag")]
REPEATED_AS_JSON: list[Command] = [("filter_qrecc", "qrecc", "--sample", "20")]


def demo_commands(folder: Path) -> list[Command]:
    """Return commands that make the demo's data and results; write their grid into the folder."""
    return [
        ("load_demo",),
        *_tradeoffs("Demo", folder),
        ("run_metric", "auto_ais", "--study", ATTRIBUTION, "--backend", "lexical"),
        ("run_metric", "sensible", "--study", SENSIBLENESS, "--backend", "heuristic"),
        ("filter_qrecc", "Demo", "--sample", "10"),
        *REPEATED_DEMO,
        ("run_kg_experiment", "alignment", "--dataset", GRAPH, "--new-study", "pairs"),
    ]


def published_commands(shared: Path, folder: Path) -> list[Command]:
    """Return commands that import and use the published data; write their grid into the folder."""
    imports = [
        ("import_dataset", str(shared / "data" / path), "--name", name)
        for name, path in PUBLISHED.items()
    ]
    return [
        *imports,
        ("run_metric", "auto_ais", "--study", "mtrag", "--backend", "lexical"),
        *_tradeoffs("mtrag", folder),
        *REPEATED_PUBLISHED,
        *REPEATED_AS_JSON,
    ]


def _tradeoffs(dataset: str, folder: Path) -> list[Command]:
    grid = folder / f"{dataset}.toml"  # named by dataset, so that no two grids have the same file
    grid.write_text(GRID.format(dataset=dataset), "utf-8")
    restricted = ("restrict_context", dataset, "--model", "extractive", "--shares", "1", "0.5", "0")
    golden = ("--backend", "lexical", "--evidence", "golden")
    return [
        ("generate", dataset, "--grid", str(grid)),
        restricted,
        ("run_metric", "auto_ais", "--dataset", dataset, *golden),
        ("run_metric", "sensible", "--dataset", dataset, "--backend", "heuristic"),
        ("report", "retrieval", "--dataset", dataset, "--of", "passages"),  # indexes its passages
        ("rerank", dataset, "--function", "sensible-first"),
    ]
