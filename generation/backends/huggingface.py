"""Language models that the transformers library loads: causal ones, and ones from text to text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from generation.backends.base import Completion, Decoding, Prompt, Token
from generation.backends.checkpoint_loader import load, most_tokens
from generation.backends.faster_layers import FasterLayers
from generation.backends.model_files import GIVES_NOTHING, NO_CHAT, NO_WORDS, first_line, folder_of
from generation.backends.reasoning import answer_of, opens_reasoning
from generation.backends.token_steps import Steps, Stops, TokenStep
from generation.model_specs import BackendError, ModelSpec
from generation.text.chat_messages import Message, alternating, as_protocol, without_system

LEAST_AT_ONCE = 8  # prompts that a graphics card completes in about the time of one
DEFAULT_CONTEXT = 2048  # tokens; used if neither the tokenizer nor the model names a limit
BATCH_TOKENS = 4096  # tokens of prompts and completions in one batch, padding included
BATCH_TOKENS_ON_GPU = 16 * 1024
# Faster layers add in another order. A log-probability of the probe may differ by this much.
LARGEST_DIFFERENCE = 1e-3
PLAIN, CHAT, CHAT_OF_USER = "plain", "chat", "chat-of-user"  # the last one sends no system message
_PROBE = Prompt("The museum opens at nine and closes at six.")
_MARKER = "Be brief, please."  # some templates leave out roles that they do not know
# A chat that the assistant begins; some templates want the user's message first.
_BY_ASSISTANT = Prompt("b", earlier=(Message("assistant", _MARKER),)).chat
_CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_FROM_TEXT_TO_TEXT = ("ForConditionalGeneration",)
ARCHITECTURES = _CAUSAL
# The settings that are kept of a model's own configuration of generation. Penalties and the like
# are left out, because they are not among a run's choices.
_SPECIAL_TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)


class _Encoded(NamedTuple):
    """A prompt as the model reads it."""

    prompt: Prompt
    ids: list[int]
    opening: str = ""  # the mark with which the prompt begins the model's reasoning


class TransformersLanguageModel:
    """A checkpoint that continues a text or turns it into another; fp32 unless bf16 is chosen."""

    def __init__(self, spec: ModelSpec) -> None:
        """Load a checkpoint.

        Args:
            spec: it names a folder with config.json, tokenizer and safetensors, or a model on the
                hub.

        Raises:
            BackendError: the checkpoint is missing, not whole, no language model, or too large.
        """
        self._location = spec.location
        folder = folder_of(spec.location, spec.revision)
        self._is_causal = _is_causal(folder, spec.location)
        auto_class = "AutoModelForCausalLM" if self._is_causal else "AutoModelForSeq2SeqLM"
        loaded = load(spec, auto_class, "language modelling")
        self._model, self._tokenizer = loaded.model, loaded.tokenizer
        self.device, self.revision, self.files = loaded.device, loaded.revision, loaded.files
        self._batch_tokens = BATCH_TOKENS_ON_GPU if self.device != "cpu" else BATCH_TOKENS
        self._take_special_tokens()
        self._form = _form_of(self._tokenizer)
        self._takes_turns = self._form != PLAIN and not _renders(self._tokenizer, _BY_ASSISTANT)
        self._context = most_tokens(self._tokenizer, self._model.config, DEFAULT_CONTEXT)
        self.signature = f"language-model|{self._form}|context:{self._context}|{spec.precision}|v:1"
        self._test_itself()
        if spec.precision == "fp32" and self.device == "cpu":
            self._take_faster_layers()

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        """Yield a completion for each prompt, in the same order, as soon as each is ready.

        Without a temperature, the most likely token is taken each time; in fp32 the other prompts
        of a batch change nothing. With a temperature, each prompt has its own random numbers, which
        depend only on the seed and the prompt, so other prompts change nothing either.
        """
        found: dict[Prompt, Completion] = {}
        waiting: list[_Encoded] = []
        for prompt in dict.fromkeys(prompts):
            encoded = self._encoded(prompt)
            n_tokens = len(encoded.ids)
            if problem := self._misfit(n_tokens, decoding.max_tokens):
                found[prompt] = Completion(problem=problem, n_prompt_tokens=n_tokens)
            else:
                waiting.append(encoded)
        batches = _batches(waiting, decoding.max_tokens, self._batch_tokens)
        for prompt in prompts:
            while prompt not in found:
                batch = next(batches)
                found |= zip(
                    (each.prompt for each in batch), self._completed(batch, decoding), strict=True
                )
            yield found[prompt]

    def _take_special_tokens(self) -> None:
        """Find the tokens that end a completion, and drop all other settings of generation."""
        from transformers import GenerationConfig

        own = self._model.generation_config
        special = {name: getattr(own, name, None) for name in _SPECIAL_TOKENS}
        if special["eos_token_id"] is None:
            special["eos_token_id"] = self._tokenizer.eos_token_id
        ends = special["eos_token_id"]
        self._ends: set[int] = {ends} if isinstance(ends, int) else set(ends or ())
        padding = (special["pad_token_id"], self._tokenizer.pad_token_id, *self._ends)
        self._padding: int = next((token for token in padding if token is not None), 0)
        special["pad_token_id"] = self._padding
        self._model.generation_config = GenerationConfig(**special)  # type: ignore[no-untyped-call]

    def _test_itself(self) -> None:
        probe = Decoding(max_tokens=1)
        known = self._tokenizer(_PROBE.text, add_special_tokens=False)["input_ids"]
        if set(known) <= {self._tokenizer.unk_token_id}:  # happens if the vocabulary is missing
            raise BackendError(f"{self._location}: {NO_WORDS}")
        try:
            [completion] = self._completed([self._encoded(_PROBE)], probe)
        except Exception as exc:  # a tokenizer that does not fit its model fails only here
            raise BackendError(f"{self._location}: {GIVES_NOTHING}: {first_line(exc)}") from exc
        if completion.problem and not completion.reasoning:
            raise BackendError(f"{self._location}: {GIVES_NOTHING}: {completion.problem}")

    def _take_faster_layers(self) -> None:
        """Use faster layers if the model still continues the probe in the same way."""
        plain = self._probed()
        faster = FasterLayers(self._model, is_bf16=False)
        if faster and self._gives(plain):
            faster.keep()
        else:
            faster.undo()

    def _probed(self) -> tuple[Token, ...]:
        """Return the first token after the probe, with the likeliest ones."""
        [completion] = self._completed([self._encoded(_PROBE)], Decoding(max_tokens=1, n_top=5))
        return completion.tokens

    def _gives(self, plain: tuple[Token, ...]) -> bool:
        """Return whether the model takes these tokens, with almost the same probabilities."""
        try:
            again = self._probed()
        except Exception:  # some models use their weights in a way that faster layers cannot
            return False
        return bool(plain and again) and all(
            a.text == b.text and abs(a.log_probability - b.log_probability) <= LARGEST_DIFFERENCE
            for a, b in zip(plain, again, strict=True)
        )

    def _encoded(self, prompt: Prompt) -> _Encoded:
        """Return the ids of a prompt's tokens, in the form that the model was trained on."""
        if self._form == PLAIN and prompt.kind == "chat":
            raise BackendError(f"{self._location}: {NO_CHAT}")
        is_plain = self._form == PLAIN or prompt.kind == "continued"
        text = _together(prompt) if is_plain else self._rendered(prompt)
        encoded = self._tokenizer(text, add_special_tokens=is_plain, verbose=False)
        return _Encoded(prompt, encoded["input_ids"], opens_reasoning(text))

    def _rendered(self, prompt: Prompt) -> str:
        """Return a chat in the words of the model's template."""
        messages = list(prompt.chat)
        if self._form == CHAT_OF_USER:
            messages = without_system(messages)
        if self._takes_turns:
            messages = alternating(messages)
        return _by_template(self._tokenizer, messages)

    def _misfit(self, n_prompt_tokens: int, max_tokens: int) -> str:
        """Return why a prompt does not fit; "" if it does."""
        # A model from text to text reads the prompt and writes the answer in separate sequences.
        room = self._context - max_tokens if self._is_causal else self._context
        if n_prompt_tokens <= room:
            return ""
        return f"the prompt has {n_prompt_tokens} tokens and the model reads {self._context}" + (
            f", of which {max_tokens} are for its answer" if self._is_causal else ""
        )

    def _completed(self, batch: Sequence[_Encoded], decoding: Decoding) -> list[Completion]:
        """Return the completions of a batch; split it in halves where memory is too small."""
        import torch

        try:
            return self._generated(batch, decoding)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if len(batch) == 1:
            n_tokens = len(batch[0].ids)
            problem = f"the memory does not do for a prompt of {n_tokens} tokens"
            return [Completion(problem=problem, n_prompt_tokens=n_tokens)]
        half = len(batch) // 2
        return self._completed(batch[:half], decoding) + self._completed(batch[half:], decoding)

    def _generated(self, batch: Sequence[_Encoded], decoding: Decoding) -> list[Completion]:
        import torch

        ids, mask = self._padded(batch)
        steps = Steps([each.prompt for each in batch], decoding)
        n_before = ids.shape[1] if self._is_causal else 1
        stops = Stops(self._decoded, n_before, decoding.stop, len(batch))
        with torch.no_grad():
            written = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                do_sample=False,  # `steps` chooses the tokens
                max_new_tokens=decoding.max_tokens,
                logits_processor=[steps],
                stopping_criteria=[stops] if decoding.stop else [],
            )
        rows = written[:, n_before:].tolist()
        return [
            Completion(problem="the model gave no numbers", n_prompt_tokens=len(each.ids))
            if number in steps.without_numbers
            else self._completion(each, row, steps.of(number), stops.ends[number], decoding)
            for number, (each, row) in enumerate(zip(batch, rows, strict=True))
        ]

    def _padded(self, batch: Sequence[_Encoded]) -> tuple[Any, Any]:
        """Return the padded tokens of a batch and the mask of real ones, one row per prompt."""
        import torch

        width = max(len(each.ids) for each in batch)
        rows, masks = [], []
        for each in batch:
            padding, ones = [self._padding] * (width - len(each.ids)), [1] * len(each.ids)
            zeros = [0] * len(padding)
            # A causal model continues the end of a row, so the padding must come first.
            rows.append(padding + each.ids if self._is_causal else each.ids + padding)
            masks.append(zeros + ones if self._is_causal else ones + zeros)
        device = self.device.partition(":")[0]
        return torch.tensor(rows, device=device), torch.tensor(masks, device=device)

    def _completion(
        self,
        asked: _Encoded,
        written: list[int],
        steps: Sequence[TokenStep],
        stopped_at: int,
        decoding: Decoding,
    ) -> Completion:
        """Return the completion that is written in one row of a batch.

        Args:
            written: the tokens of the row, with whatever follows its end.
            stopped_at: the number of its tokens when a stop string was complete; 0: none was.
        """
        ids = written[: stopped_at or None]
        end = next((place for place, token in enumerate(ids) if token in self._ends), None)
        ids = ids[:end]
        whole = self._decoded(ids)
        text = whole[
            : min((at for stop in decoding.stop if (at := whole.find(stop)) >= 0), default=None)
        ]
        completion = Completion(
            f"{asked.opening}{text}",
            tokens=self._tokens(ids, steps, text) if decoding.n_top else (),
            is_cut=end is None and text == whole,
            n_prompt_tokens=len(asked.ids),
            n_tokens=len(ids),
        )
        return answer_of(completion, decoding.max_tokens)

    def _tokens(
        self, ids: Sequence[int], steps: Sequence[TokenStep], text: str
    ) -> tuple[Token, ...]:
        """Return the tokens that make up a text, with their log-probabilities."""
        n_kept = len(ids)
        if text != self._decoded(ids):  # the text was cut at a stop string
            while n_kept and len(self._decoded(ids[: n_kept - 1])) >= len(text):
                n_kept -= 1
        return tuple(
            Token(
                self._piece(token),
                step.log_probability,
                tuple((self._piece(other), value) for other, value in step.top),
            )
            for token, step in zip(ids[:n_kept], steps, strict=False)
        )

    def _decoded(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def _piece(self, token: int) -> str:
        """Return one token as text; special tokens are texts too."""
        text: str = self._tokenizer.decode([token], clean_up_tokenization_spaces=False)
        return text


def _is_causal(folder: Path, location: str) -> bool:
    """Return whether a model continues a text, rather than turning it into another."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as exc:  # files made by others may raise anything
        raise BackendError(
            f"{location}: the model cannot be loaded. Are its files complete? {first_line(exc)}"
        ) from exc
    makes_another = bool(getattr(config, "is_encoder_decoder", False))
    names = config.architectures or ["no name of a model"]
    wanted = _FROM_TEXT_TO_TEXT if makes_another else _CAUSAL
    if not any(name.endswith(wanted) for name in names):
        raise BackendError(
            f"{location}: found {', '.join(names)}; expected a language model, whose name in "
            f"config.json ends in {' or '.join(wanted)}"
        )
    return not makes_another


def _form_of(tokenizer: Any) -> str:
    """Return how prompts are given to a model: by its chat template, or as plain text."""
    if not getattr(tokenizer, "chat_template", None):
        return PLAIN
    return CHAT if _renders(tokenizer, Prompt("a", _MARKER).chat) else CHAT_OF_USER


def _renders(tokenizer: Any, messages: Sequence[Message]) -> bool:
    """Return whether a template takes some messages and leaves out none of their texts."""
    try:
        text = _by_template(tokenizer, messages)
    except Exception:  # 'no system role', 'roles must alternate'; each template has its own words
        return False
    return all(message.text in text for message in messages)


def _by_template(tokenizer: Any, messages: Sequence[Message]) -> str:
    text: str = tokenizer.apply_chat_template(
        as_protocol(messages), tokenize=False, add_generation_prompt=True
    )
    return text


def _together(prompt: Prompt) -> str:
    return f"{prompt.system}\n\n{prompt.text}" if prompt.system else prompt.text


def _batches(
    waiting: Sequence[_Encoded], max_tokens: int, batch_tokens: int
) -> Iterator[list[_Encoded]]:
    """Yield the prompts in batches of similar length, the longest first.

    A batch has at most `batch_tokens` tokens, padding and completions included, unless a single
    prompt needs more.
    """
    batch: list[_Encoded] = []
    for each in sorted(waiting, key=lambda each: len(each.ids), reverse=True):
        widest = len((batch or [each])[0].ids) + max_tokens
        if batch and widest * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch
