"""Write the JSON Lines and CSV that Potato 2.12.1 exports of a small task, by its own exporters.

The answers are those of `write_potato.py` that both versions can give, in the form in which version
2 keeps them. Usage: python write_potato2.py FOLDER
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from potato.export.base import ExportContext
from potato.export.tabular_exporter import CSVExporter, JSONLExporter

ANSWERS = [  # annotator, item, answers
    ("anna", "q1", {"supported": {"yes": "yes"}, "fluent": {"4": "4"}}),
    ("anna", "q2", {"supported": {"no": "no"}, "faults": {"date": "date", "name": "name"}}),
    ("bert", "q1", {"supported": {"yes": "yes"}, "fluent": {"2": "2"}}),
    ("bert", "q2", {"supported": {"yes": "yes"}, "faults": {"date": "date"}}),
]


def main(folder: Path) -> None:
    annotations = [
        {"instance_id": item, "user_id": person, "labels": labels, "spans": {}, "links": {}}
        for person, item, labels in ANSWERS
    ]
    with TemporaryDirectory() as scratch:
        context = ExportContext({}, annotations, {}, [], scratch)
        for exporter, ending in ((JSONLExporter(), "jsonl"), (CSVExporter(), "csv")):
            exporter.export(context, scratch)
            written = Path(scratch, f"annotations.{ending}").read_text("utf-8")
            (folder / f"potato2.{ending}").write_text(written, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
