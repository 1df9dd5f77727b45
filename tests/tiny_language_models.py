"""Language models of some 200 KiB, made in a second: real ones in form, but not in content.

Their weights are random and deterministic, so that each prompt has its own meaningless completion.
The last layer can be fitted: so that some prompts have the completions that a test needs, or so
that every prompt has the same completion.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

CHAT = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CHAT_WITHOUT_SYSTEM = (
    "{% for message in messages %}{% if message.role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "<{{ message.role }}>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CHAT_THAT_DROPS_SYSTEM = (
    "{% for message in messages if message.role != 'system' %}"
    "<{{ message.role }}>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CHAT_IN_TURNS = (
    "{% for message in messages | rejectattr('role', 'equalto', 'system') %}"
    "{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}{% endfor %}" + CHAT
)
_SPECIAL = ["<pad>", "<s>", "</s>", "<system>", "<user>", "<assistant>"]
_TEXTS = [
    "The museum opens at nine and closes at six. Rome is the capital of Italy.",
    "Yes No 0.0 0.2 0.4 0.6 0.8 1.0 1 2 3 4 5 Answer: ### Dialog: Final reply:",
    "Does the evidence support the claim? Answer with one word: Yes or No.",
]
# Tokens with which prompts may end.
_LAST_TOKENS = [":", ".", "?", " ", "\n", "###", " ###", "<assistant>"]


def tiny_causal(
    folder: Path,
    *,
    family: str = "llama",
    answers: Mapping[str, str] | None = None,
    always: str = "",
    chat_template: str = "",
    context: int = 512,
    seed: int = 0,
) -> Path:
    """Write a model that continues a text into a folder, and return the folder.

    Args:
        family: 'llama', or 'gpt2', whose positions are learned.
        answers: completions by whole prompt, in the form that the model reads.
        always: the completion of every prompt that ends with a colon, a full stop, a question mark,
            a space, a line break, '###' or the start of an assistant's turn.
        chat_template: the template of its tokenizer; without one it takes plain text.
        context: the most tokens of a prompt and its completion together.
        seed: the seed of its weights.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(context, chat_template)
    shared: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": context,
        "initializer_range": 0.3,  # large, so that every word affects the answer
        "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: Any = (
            LlamaForCausalLM(
                LlamaConfig(
                    hidden_size=32,
                    intermediate_size=64,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    num_key_value_heads=2,
                    **shared,
                )
            )
            if family == "llama"
            else GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=4, **shared))
        ).eval()
    body = model.model if family == "llama" else model.transformer

    def hidden(ids: Sequence[int]) -> Any:
        return body(torch.tensor([ids])).last_hidden_state[0]

    states, wanted = [], []
    with torch.no_grad():
        if always:
            _look_at_the_last_token_only(model)
            after = dict.fromkeys(_ids(tokenizer, *_LAST_TOKENS), _ids(tokenizer, always)[0])
            chain = [*_ids(tokenizer, always), tokenizer.eos_token_id]
            after |= pairwise(chain)
            states = [hidden([token])[0] for token in after]
            wanted = list(after.values())
        for prompt, answer in (answers or {}).items():
            before = tokenizer(prompt, add_special_tokens=not chat_template)["input_ids"]
            said = [*_ids(tokenizer, answer), tokenizer.eos_token_id]
            states += list(hidden([*before, *said])[len(before) - 1 : -1])
            wanted += said
    _fit(model, states, wanted)
    return _saved(model, tokenizer, folder)


def tiny_text_to_text(
    folder: Path, *, answers: Mapping[str, str] | None = None, context: int = 512, seed: int = 0
) -> Path:
    """Write a T5, which makes one text of another, into a folder, and return the folder."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    tokenizer = _tokenizer(context, is_ended=True)
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 64,
        "num_layers": 2,
        "num_heads": 4,
        "initializer_factor": 3.0,
        "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: Any = T5ForConditionalGeneration(T5Config(**sizes)).eval()
    # A new model has one matrix for embeddings and output; a checkpoint may hold two.
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    states, wanted = [], []
    with torch.no_grad():
        for prompt, answer in (answers or {}).items():
            said = [*_ids(tokenizer, answer), tokenizer.eos_token_id]
            read = model.encoder(torch.tensor([tokenizer(prompt)["input_ids"]])).last_hidden_state
            written = torch.tensor([[tokenizer.pad_token_id, *said[:-1]]])
            states += list(model.decoder(written, encoder_hidden_states=read).last_hidden_state[0])
            wanted += said
    _fit(model, states, wanted)
    return _saved(model, tokenizer, folder)


def _tokenizer(context: int, chat_template: str = "", is_ended: bool = False) -> Any:
    """Return a byte-level tokenizer: a few words are one token, all other text is split."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        _TEXTS * 3,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=_SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>" if is_ended else "<s> $A",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=context,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
    )
    if chat_template:
        fast.chat_template = chat_template
    return fast


def _ids(tokenizer: Any, *texts: str) -> list[int]:
    """Return the tokens of some texts, one text after the other."""
    return [
        token for text in texts for token in tokenizer(text, add_special_tokens=False)["input_ids"]
    ]


def _look_at_the_last_token_only(model: Any) -> None:
    """Zero all weights that mix tokens or know positions: only the last token decides the next."""
    for name, weights in model.named_parameters():
        if any(part in name for part in ("o_proj", "down_proj", "c_proj", "wpe")):
            weights.zero_()


def _fit(model: Any, states: Sequence[Any], wanted: Sequence[int]) -> None:
    """Change the last layer as little as possible so that each state is followed by its token."""
    import torch

    if not states:
        return
    assert len(states) <= 32, f"{len(states)} places to fit, 32 numbers to do it with"
    with torch.no_grad():
        before, weights = torch.stack(list(states)), model.lm_head.weight
        logits = torch.zeros(len(wanted), weights.shape[0])
        logits[range(len(wanted)), list(wanted)] = 12.0
        weights += (torch.linalg.pinv(before) @ (logits - before @ weights.T)).T


def _saved(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
