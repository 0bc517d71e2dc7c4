"""Gemma 3's text models: random ones as GGUF files, and a file as transformers' model in float32."""

from dataclasses import dataclass

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

import build
import gemma4

NAMES = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
}
LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_output": "self_attn.o_proj",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
}
# The built-in model's control tokens that Gemma 3 spells otherwise.
TURNS = {"<|turn>": "<start_of_turn>", "<turn|>": "<end_of_turn>"}


def turns(text):
    """A prompt of Gemma 4's in Gemma 3's form."""
    for theirs, own in TURNS.items():
        text = text.replace(theirs, own)
    return text


LARGE = 62  # layers of the 27B, whose scores have another scale


@dataclass
class Kind:
    width: int
    ff: int
    heads: int
    kv: int
    head: int
    layers: int
    window: int
    post: float  # size of the norms behind attention and feed-forward
    types: tuple  # of matrices, in turn
    merges: bool  # or scores
    more: dict  # metadata beside the sizes


KINDS = {
    # Widths that are no multiple of anything, every sixth layer global, positions divided there.
    "gemma3": Kind(
        90, 70, 3, 1, 22, 8, 12, 4.0, (Type.F16, Type.F32, Type.BF16), False,
        {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0},
    ),
    # As many layers as the 27B, every fourth of them global, and a softcap.
    "gemma3large": Kind(
        64, 32, 4, 2, 8, LARGE, 20, 1.5, (Type.Q8_0, Type.Q5_0, Type.F16), True,
        {"attention.sliding_window_pattern": [i % 4 < 3 for i in range(LARGE)], "final_logit_softcapping": 30.0,
         "rope.freq_base_swa": 2e4},
    ),
}


def weights(k, vocabulary, seed):
    w = build.Weights(np.random.default_rng(seed))
    w.linear("token_embd", vocabulary, k.width)
    for i in range(k.layers):
        p = f"blk.{i}."
        w.linear(p + "attn_q", k.heads * k.head, k.width)
        w.linear(p + "attn_k", k.kv * k.head, k.width)
        w.linear(p + "attn_v", k.kv * k.head, k.width)
        # The scale of the scores takes the norms down again.
        for name in ("attn_q_norm", "attn_k_norm"):
            w.norm(p + name, k.head, 1.2)
        w.linear(p + "attn_output", k.width, k.heads * k.head)
        w.linear(p + "ffn_gate", k.ff, k.width)
        w.linear(p + "ffn_up", k.ff, k.width)
        w.linear(p + "ffn_down", k.width, k.ff)
        for name in ("attn_norm", "ffn_norm"):
            w.norm(p + name, k.width)
        for name in ("post_attention_norm", "post_ffw_norm"):
            w.norm(p + name, k.width, k.post)
    w.norm("output_norm", k.width)
    return w.tensors


def tokenizer(out, k):
    """The built-in model's pieces with Gemma 3's turns, by merges, or by the scores that order them alike."""
    reader = gguf.GGUFReader(build.NANO)
    read = lambda key: reader.fields["tokenizer.ggml." + key].contents()
    tokens, kinds, merges = read("tokens"), read("token_type"), read("merges")
    unused = iter(range(100))
    for i, t in enumerate(tokens):
        if t in TURNS:
            tokens[i], kinds[i] = TURNS[t], gguf.TokenType.CONTROL
        elif t.startswith("<|") or t.endswith("|>"):
            tokens[i], kinds[i] = f"<unused{next(unused)}>", gguf.TokenType.CONTROL
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_types(kinds)
    scores = dict.fromkeys(tokens, -1000.0)
    for rank, merge in enumerate(merges):
        piece = merge.replace(" ", "", 1)
        scores[piece] = max(scores[piece], -float(rank))
    out.add_token_scores([scores[t] for t in tokens])
    if k.merges:
        out.add_token_merges(merges)
    out.add_bos_token_id(tokens.index("<bos>"))
    out.add_eos_token_id(tokens.index("<eos>"))
    out.add_unk_token_id(tokens.index("<unk>"))
    out.add_pad_token_id(tokens.index("<pad>"))
    out.add_add_bos_token(True)
    out.add_add_space_prefix(False)
    return len(tokens)


def write(path, name, seed):
    k = KINDS[name]
    out = gguf.GGUFWriter(path, "gemma3")
    out.add_name(name)
    meta = {
        "block_count": k.layers,
        "context_length": 4096,
        "embedding_length": k.width,
        "feed_forward_length": k.ff,
        "attention.head_count": k.heads,
        "attention.head_count_kv": k.kv,
        "attention.key_length": k.head,
        "attention.value_length": k.head,
        "attention.sliding_window": k.window,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base": 1e6,
    }
    kinds = {bool: out.add_bool, int: out.add_uint32, float: out.add_float32, list: out.add_array, str: out.add_string}
    for key, value in (meta | k.more).items():
        kinds[type(value)]("gemma3." + key, value)
    vocabulary, turn = tokenizer(out, k), 0
    for tensor, values in weights(k, vocabulary, seed).items():
        kind = Type.F32
        if values.ndim > 1:
            kind, turn = k.types[turn % len(k.types)], turn + 1
        out.add_tensor(tensor, build.quantize(values, kind), raw_dtype=None if kind in (Type.F32, Type.F16) else kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


class File(gemma4.File):
    def get(self, key, default=None):
        value = self.meta.get("gemma3." + key, default)
        if value is None:
            raise KeyError("gemma3." + key)
        return value


def config(file):
    layers, heads, width = file.get("block_count"), file.get("attention.head_count"), file.get("embedding_length")
    sliding = file.get("attention.sliding_window_pattern", [i % 6 < 5 for i in range(layers)])
    whole = {"rope_type": "default", "rope_theta": file.get("rope.freq_base")}
    if factor := file.get("rope.scaling.factor", 0):
        whole |= {"rope_type": "linear", "factor": factor}
    return Gemma3TextConfig(
        vocab_size=len(file.tokens),
        hidden_size=width,
        intermediate_size=file.get("feed_forward_length"),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=file.get("attention.head_count_kv"),
        head_dim=file.get("attention.key_length"),
        query_pre_attn_scalar=width // heads if layers == LARGE else file.get("attention.key_length"),
        sliding_window=file.get("attention.sliding_window"),
        layer_types=["sliding_attention" if s else "full_attention" for s in sliding],
        final_logit_softcapping=file.get("final_logit_softcapping", 0) or None,
        rms_norm_eps=file.get("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=file.get("context_length"),
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": file.get("rope.freq_base_swa", 1e4)},
            "full_attention": whole,
        },
    )


def transformers_name(name):
    if not name.startswith("blk."):
        return "model." + NAMES[name.removesuffix(".weight")] + ".weight"
    _, layer, rest = name.split(".", 2)
    return f"model.layers.{layer}.{LAYER[rest.removesuffix('.weight')]}.weight"


def load(path):
    """The file's model and the file, with as many tensors."""
    file = File(path)
    c = config(file)
    c._attn_implementation = "eager"
    model = Gemma3ForCausalLM(c).float().eval()
    state = model.state_dict()
    with torch.no_grad():
        for name, values in file.tensors.items():
            if "norm" in name:
                values = values - 1  # transformers adds it
            state[transformers_name(name)].copy_(torch.from_numpy(np.array(values)))
    left = set(state) - {transformers_name(n) for n in file.tensors}
    if left - {"lm_head.weight"}:
        raise SystemExit(f"{path} has nothing for {left}")
    return model, file


class Tokens:
    """Encodes as SentencePiece does, by the scores of the file, or by its merges: slowly, and as the page says."""

    def __init__(self, file):
        get = lambda key: file.meta.get("tokenizer.ggml." + key)
        self.ids = {t: i for i, t in enumerate(file.tokens)}
        self.special = [t for t, k in zip(file.tokens, get("token_type")) if k == gguf.TokenType.CONTROL]
        self.special += [t for t, k in zip(file.tokens, get("token_type")) if k == gguf.TokenType.USER_DEFINED]
        self.special.sort(key=len, reverse=True)
        self.ranks = {tuple(m.split(" ", 1)): -i for i, m in enumerate(get("merges") or [])}
        self.scores = dict(zip(file.tokens, get("scores")))

    def encode(self, text):
        ids, run, at = [], "", 0
        while at < len(text):
            found = next((t for t in self.special if text.startswith(t, at)), None)
            if found is None:
                run, at = run + text[at], at + 1
                continue
            ids += self.run(run) + [self.ids[found]]
            run, at = "", at + len(found)
        return ids + self.run(run)

    def run(self, text):
        pieces = list(text.replace(" ", "▁"))
        if self.ranks:
            pieces = [p for c in pieces for p in ([c] if c in self.ids else self.bytes(c))]
        while True:
            best = max(((self.score(a, b), -i) for i, (a, b) in enumerate(zip(pieces, pieces[1:]))), default=None)
            if best is None or best[0] == -np.inf:
                break
            i = -best[1]
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
        return [self.ids[p] for c in pieces for p in ([c] if c in self.ids else self.bytes(c))]

    def score(self, a, b):
        if self.ranks:
            return self.ranks.get((a, b), -np.inf)
        return self.scores.get(a + b, -np.inf)

    def bytes(self, text):
        return [f"<0x{b:02X}>" for b in text.encode()]
