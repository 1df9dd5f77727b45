"""Write what Potato 1.2.2.4 writes of a small task, by its own functions.

Two annotators have answered about three items: a label, several labels, a point of a scale, a
rating of two options, and a remark. The forms are given to the function that takes what a browser
sends.
Usage: python write_potato.py FOLDER
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import potato

sys.path.insert(0, str(Path(potato.__file__).parent))

ITEMS = {"q1": "She did.", "q2": "In 1847.", "q3": "Of slate."}
ANSWERS = {  # annotator → item → what the browser sends
    "anna": {
        "q1": {"supported:::yes": "supported:::yes", "fluent:::scale_4": "4"},
        "q2": {
            "supported:::no": "supported:::no",
            "fluent:::scale_5": "5",
            "faults:::date": "faults:::date",
            "faults:::name": "faults:::name",
            "rate:::tone": "2",
            "rate:::length": "3",
            "remark:::text_box": "It was 1846.",
        },
        "q3": {"supported:::no": "supported:::no", "rate:::tone": "3"},
    },
    "bert": {
        "q1": {"supported:::yes": "supported:::yes", "fluent:::scale_2": "2"},
        "q2": {"supported:::yes": "supported:::yes", "faults:::date": "faults:::date"},
    },
}


def main(folder: Path) -> None:
    os.chdir(Path(potato.__file__).parent)
    import flask_server as server

    with TemporaryDirectory() as scratch:
        server.config.update({"output_annotation_dir": scratch, "__debug__": False})
        server.instance_id_to_data = {
            key: {"id": key, "displayed_text": text} for key, text in ITEMS.items()
        }
        for person, forms in ANSWERS.items():
            state = server.UserAnnotationState(server.instance_id_to_data)
            server.user_to_annotation_state[person] = state
            for key, form in forms.items():
                cursor = list(ITEMS).index(key)
                server.request = SimpleNamespace(form={"instance_id": str(cursor)})
                seconds = {"behavior_time_string": "Time spent: 0d 0h 0m 12s "}
                server.update_annotation_state(person, {**form, **seconds})
            server.save_user_state(person)
            written = Path(scratch, person, "annotated_instances.jsonl")
            (folder / f"potato_{person}.jsonl").write_text(written.read_text("utf-8"), "utf-8")
        for form in ("jsonl", "csv", "tsv"):
            server.config["output_annotation_format"] = form
            server.save_all_annotations()
            written = Path(scratch, f"annotated_instances.{form}")
            (folder / f"potato.{form}").write_text(written.read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
