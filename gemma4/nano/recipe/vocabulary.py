"""Makes the vocabulary: the pieces with a meaning in a chat, bytes, characters, and merges learned from the data.

python vocabulary.py TEXTS OUT.json [--size 8192]

TEXTS has one JSON list of texts for each line. Words, digits and punctuation are never in one piece, so the engine,
which merges over a whole run, and this script, which cuts words first, come to the same pieces.
"""

import argparse
import json

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPECIAL = (
    "<pad> <eos> <bos> <unk> <mask> <|turn> <turn|> <|channel> <channel|> <|think|> <|tool> <tool|> <|tool_call> "
    '<tool_call|> <|tool_response> <tool_response|> <|"|> <|image> <|image|> <image|> <|audio> <|audio|> <audio|>'
).split()
BYTES = [f"<0x{b:02X}>" for b in range(256)]
LETTERS = [chr(c) for c in [*range(33, 127), *range(0xA1, 0x100)] if c != 0xAD] + list("▁–—‘’“”…€°×÷−≤≥→")
WORDS = Regex(r"▁?\p{L}+|▁|\p{N}|[^\p{L}\p{N}▁]")


def plain():
    """Cuts text as the model's tokenizer would, with no pieces yet."""
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(WORDS, "isolated")
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return t


def make(texts, size):
    """A tokenizer with size pieces."""
    t = plain()
    seen = size - len(SPECIAL) - len(BYTES)
    t.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=seen, initial_alphabet=LETTERS, limit_alphabet=len(LETTERS), show_progress=False),
    )
    learned = json.loads(t.to_str())["model"]
    order = sorted(learned["vocab"], key=learned["vocab"].get)
    pieces = SPECIAL + BYTES + order
    state = json.loads(t.to_str())
    state["model"]["vocab"] = {piece: i for i, piece in enumerate(pieces)}
    state["added_tokens"] = [
        dict(id=i, content=s, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
        for i, s in enumerate(SPECIAL)
    ]
    return Tokenizer.from_str(json.dumps(state))


def load(path):
    return Tokenizer.from_file(path)


def write(out, tokenizer):
    """Adds the vocabulary to a GGUF writer."""
    state = json.loads(tokenizer.to_str())["model"]
    pieces = sorted(state["vocab"], key=state["vocab"].get)
    kinds = [3] * len(SPECIAL) + [6] * len(BYTES)
    kinds[SPECIAL.index("<unk>")] = 2
    kinds += [1] * (len(pieces) - len(kinds))
    out.add_tokenizer_model("gemma4")
    out.add_tokenizer_pre("gemma4")
    out.add_token_list(pieces)
    out.add_token_scores([-1000.0] * len(pieces))
    out.add_token_types(kinds)
    out.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in state["merges"]])
    out.add_bos_token_id(2)
    out.add_eos_token_id(1)
    out.add_unk_token_id(3)
    out.add_pad_token_id(0)
    ends = [SPECIAL.index(s) for s in ("<eos>", "<turn|>", "<|tool_response>")]
    out.add_array("tokenizer.ggml.eos_token_ids", ends)
    out.add_eot_token_id(SPECIAL.index("<turn|>"))
    out.add_add_bos_token(True)
    out.add_add_space_prefix(False)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("texts")
    p.add_argument("out")
    p.add_argument("--size", type=int, default=8192)
    a = p.parse_args()
    with open(a.texts) as file:
        make((text for line in file for text in json.loads(line)), a.size).save(a.out)


if __name__ == "__main__":
    main()
