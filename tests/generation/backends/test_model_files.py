"""Whether the files of a model are whole, what they are, and how much memory they take."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from generation.backends.memory import GIB, free_memory
from generation.backends.model_files import (
    INDEX,
    WEIGHTS,
    check_memory,
    digest_of,
    folder_of,
    hashes_of,
    model_files,
    weights_of,
    what_is_wrong,
)
from generation.model_specs import BackendError, ModelSpec


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    tensors: dict[str, np.ndarray] = {
        "w": np.zeros((10, 7), np.float32),
        "position_ids": np.zeros(5, np.int64),
    }
    save_file(tensors, tmp_path / WEIGHTS)
    return tmp_path


def refused(folder):
    problem = what_is_wrong(folder)
    assert "\n" not in problem
    with pytest.raises(BackendError) as raised:
        folder_of(str(folder))
    assert str(raised.value) == f"{folder}: {problem}"
    return problem


def test_a_whole_folder_has_nothing_wrong(folder):
    assert what_is_wrong(folder) == ""
    assert folder_of(str(folder)) == folder


def test_half_a_file_says_how_long_it_should_be(folder):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:-1])

    assert refused(folder) == (
        f"{WEIGHTS}: found {len(whole) - 1:,} bytes; expected {len(whole):,}, as its header says"
    )


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, b"\x02" + b"\0" * 7 + b"[]"])
def test_a_file_without_a_header_is_refused(folder, content):
    (folder / WEIGHTS).write_bytes(content)

    assert f"{WEIGHTS}: found {len(content):,} bytes without a readable safetensors" in refused(
        folder
    )


def test_a_pointer_of_git_lfs_is_told(folder):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    (folder / WEIGHTS).write_text(pointer)

    assert f"{WEIGHTS}: found a git-lfs pointer of {len(pointer)} bytes" in refused(folder)


def test_a_missing_part_of_several_is_named(folder):
    (folder / WEIGHTS).unlink()
    parts = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    index = {"weight_map": {"a": parts[0], "b": parts[1]}}
    (folder / INDEX).write_text(json.dumps(index))
    save_file({"a": np.zeros(3, np.float32)}, folder / parts[0])

    assert refused(folder) == f"found no {parts[1]}; expected every file that {INDEX} names"
    save_file({"b": np.zeros(4, np.float32)}, folder / parts[1])
    assert what_is_wrong(folder) == ""
    assert weights_of(folder).n_parameters == 7


@pytest.mark.parametrize("index", ["{", "[]", "{}", '{"weight_map": {"a": "../x.safetensors"}}'])
def test_an_index_that_names_no_files_here_is_refused(folder, index):
    (folder / WEIGHTS).unlink()
    (folder / INDEX).write_text(index)

    assert INDEX in refused(folder)


def test_other_kinds_of_weights_are_not_read(folder):
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")

    assert refused(folder) == ("found pytorch_model.bin; expected weights as .safetensors")
    save_file({"a": np.zeros(3, np.float32)}, folder / "adapter_model.safetensors")
    assert refused(folder).startswith("found weights in adapter_model.safetensors; expected")


def test_weights_in_another_precision_are_refused(folder):
    config = {"model_type": "bert", "quantization_config": {"quant_method": "gptq", "bits": 4}}
    (folder / "config.json").write_text(json.dumps(config))

    assert refused(folder) == (
        "found weights in another precision than fp32, bf16 or fp16 (config.json has a "
        "quantization_config); expected the weights that they were made from"
    )


@pytest.mark.parametrize("has_config", [True, False])
def test_an_adapter_alone_is_refused_and_beside_its_model_it_is_none_of_ours(folder, has_config):
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    assert what_is_wrong(folder) == ""

    (folder / WEIGHTS).rename(folder / "adapter_model.safetensors")
    if not has_config:
        (folder / "config.json").unlink()

    assert refused(folder) == (
        "found an adapter (adapter_config.json) without its model; expected both merged"
    )


def test_memory_is_parameters_times_the_bytes_of_the_precision(folder):
    # 10 × 7 numbers with a fraction, and 5 whole numbers of 8 bytes.
    weights = weights_of(folder)

    assert weights.bytes_in("fp32") == 70 * 4 + 40
    assert weights.bytes_in("bf16") == 70 * 2 + 40
    check_memory(folder, "fp32", "there", 320, "this machine")
    check_memory(folder, "fp32", "there", None, "this machine")
    check_memory(folder, "bf16", "there", 180, "this machine")
    with pytest.raises(
        BackendError, match="there: the model is too large for the memory of this machine"
    ):
        check_memory(folder, "fp32", "there", 319, "this machine")


def test_what_is_too_large_is_said_in_gib(folder):
    # A file with a hole: it takes no room on the disk.
    n_bytes = 200 * GIB
    header = json.dumps({"w": {"dtype": "F32", "shape": [50 * GIB], "data_offsets": [0, n_bytes]}})
    with (folder / WEIGHTS).open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header.encode())
        file.truncate(8 + len(header) + n_bytes)

    with pytest.raises(BackendError) as raised:
        check_memory(folder, "bf16", "there", 3 * GIB, "this machine")

    assert str(raised.value) == (
        "there: the model is too large for the memory of this machine. In bf16 it needs about "
        "100.0 GiB; 3.0 GiB are free"
    )


def test_files_are_told_by_their_hashes_and_a_folder_by_theirs(folder):
    found = model_files(ModelSpec("transformers", location=str(folder)))

    of_config = hashlib.sha256((folder / "config.json").read_bytes()).hexdigest()
    of_weights = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    assert found.files == {"config.json": of_config, WEIGHTS: of_weights}
    lines = f"config.json {of_config}\n{WEIGHTS} {of_weights}\n"
    assert found.revision == hashlib.sha256(lines.encode()).hexdigest()[:16] == digest_of(folder)
    (folder / "README.md").write_text("new")
    assert hashes_of(folder) == found.files
    (folder / "generation_config.json").write_text("{}")
    assert digest_of(folder) != found.revision


def test_free_memory_is_the_least_of_the_machine_s_and_its_groups(tmp_path):
    write(tmp_path / "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:  8000 kB\n")
    assert free_memory(tmp_path) == 8000 * 1024

    write(tmp_path / "proc/self/cgroup", "0::/outer/inner\n")
    outer, inner = (tmp_path / "sys/fs/cgroup" / each for each in ("outer", "outer/inner"))
    write(inner / "memory.max", "max\n")
    write(inner / "memory.current", "100\n")
    write(inner / "memory.stat", "inactive_file 7\n")
    assert free_memory(tmp_path) == 8000 * 1024
    write(outer / "memory.max", "5000\n")
    write(outer / "memory.current", "1500\n")
    write(outer / "memory.stat", "anon 1\ninactive_file 500\n")
    assert free_memory(tmp_path) == 5000 - 1500 + 500


def test_a_container_s_group_stands_at_the_top_and_the_older_kind_counts_too(tmp_path):
    write(tmp_path / "proc/self/cgroup", "0::/somewhere/outside\n")
    top = tmp_path / "sys/fs/cgroup"
    write(top / "memory.max", "3000\n")
    write(top / "memory.current", "1000\n")
    write(top / "memory.stat", "")
    assert free_memory(tmp_path) == 2000

    write(top / "memory/memory.limit_in_bytes", "1500\n")
    write(top / "memory/memory.usage_in_bytes", "1000\n")
    write(top / "memory/memory.stat", "total_inactive_file 100\n")
    assert free_memory(tmp_path) == 600


def test_a_system_that_does_not_say_has_no_limit_known(tmp_path):
    assert free_memory(tmp_path) is None


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
