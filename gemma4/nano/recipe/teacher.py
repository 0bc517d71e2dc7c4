"""Has a larger model write questions and answers: many at once, on a GPU, from prompts that this recipe makes.

python teacher.py pack QWEN.gguf OUT      trims the teacher to what English needs, in parts of 64 MB
python teacher.py ask PACKED PROMPTS.jsonl OUT.jsonl --seconds 200

The teacher is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0). Its weights stay in their blocks until they are on the GPU.
"""

import argparse
import glob
import json
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

KEPT = 48000  # the first pieces: nearly all of English
PART = 66_500_000
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LAYERS, WIDTH, HEADS, KV, HEAD, EPSILON, BASE = 28, 1536, 12, 2, 128, 1e-6, 1e6


def pack(path, out):
    import gguf

    os.makedirs(out, exist_ok=True)
    reader = gguf.GGUFReader(path)
    pieces = reader.fields["tokenizer.ggml.tokens"].contents()
    rows = list(range(KEPT)) + [pieces.index(s) for s in SPECIAL]
    names = {pieces[r]: i for i, r in enumerate(rows)}
    merges = [tuple(m.split(" ")) for m in reader.fields["tokenizer.ggml.merges"].contents()]
    merges = [m for m in merges if m[0] in names and m[1] in names and "".join(m) in names]
    t = Tokenizer(models.BPE(vocab=names, merges=merges))
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens(SPECIAL)
    t.save(os.path.join(out, "tokenizer.json"))
    index, blob = [], bytearray()
    for tensor in reader.tensors:
        if tensor.name == "token_embd.weight":
            continue
        data = tensor.data[rows] if tensor.name == "output.weight" else tensor.data
        shape = [int(n) for n in reversed(tensor.shape)]
        if tensor.name == "output.weight":
            shape[0] = len(rows)
        raw = np.ascontiguousarray(data).tobytes()
        index.append(dict(name=tensor.name, type=tensor.tensor_type.name, shape=shape, at=len(blob), size=len(raw)))
        blob += raw
    for i in range(0, len(blob), PART):
        with open(os.path.join(out, f"part{i // PART:02d}.bin"), "wb") as file:
            file.write(blob[i : i + PART])
    with open(os.path.join(out, "index.json"), "w") as file:
        json.dump(index, file)


def halves(b):
    """A half-precision number from each row's two bytes."""
    return b.contiguous().view(torch.float16).float()


def decode_q4_k(b):
    d, low = halves(b[:, :2]), halves(b[:, 2:4])
    s, q = b[:, 4:16].int(), b[:, 16:].view(-1, 4, 32)
    scale = torch.cat([s[:, :4] & 63, s[:, 8:] & 15 | s[:, :4] >> 6 << 4], 1)
    least = torch.cat([s[:, 4:8] & 63, s[:, 8:] >> 4 | s[:, 4:8] >> 6 << 4], 1)
    q = torch.stack([q & 15, q >> 4], 2).view(-1, 8, 32)
    return ((d * scale)[..., None] * q - (low * least)[..., None]).view(-1, 256)


def decode_q6_k(b):
    low, high = b[:, :128].view(-1, 2, 2, 32), b[:, 128:192].view(-1, 2, 1, 32)
    scale, d = b[:, 192:208].contiguous().view(torch.int8).float(), halves(b[:, 208:])
    low = torch.stack([low & 15, low >> 4], 2).view(-1, 2, 4, 32)
    high = torch.cat([high >> n & 3 for n in (0, 2, 4, 6)], 2)
    q = (low.int() | high.int() << 4) - 32
    return ((d * scale)[..., None] * q.view(-1, 16, 16)).view(-1, 256)


def weights(folder, device):
    raw = np.concatenate([np.fromfile(p, np.uint8) for p in sorted(glob.glob(folder + "/part*.bin"))])
    out = {}
    with open(folder + "/index.json") as file:
        index = json.load(file)
    for t in index:
        b = torch.from_numpy(raw[t["at"] : t["at"] + t["size"]]).to(device)
        if t["type"] == "F32":
            values = b.view(torch.float32)
        else:
            values = decode_q4_k(b.view(-1, 144)) if t["type"] == "Q4_K" else decode_q6_k(b.view(-1, 210))
        out[t["name"]] = values.view(t["shape"]).to(torch.bfloat16)
    return out


def rms(x, w):
    return F.rms_norm(x, (x.shape[-1],), w, EPSILON)


class Teacher:
    """Decodes a batch whose prompts end at the same place: shorter ones have padding before them."""

    def __init__(self, folder, device):
        self.w, self.device = weights(folder, device), device
        self.text = Tokenizer.from_file(folder + "/tokenizer.json")
        self.end = self.text.token_to_id("<|im_end|>")

    def layer(self, i, x, cos, sin, cache, at, bias):
        rows, n, _ = x.shape
        p = f"blk.{i}."
        h = rms(x, self.w[p + "attn_norm.weight"])
        q, k, v = (F.linear(h, self.w[f"{p}attn_{c}.weight"], self.w[f"{p}attn_{c}.bias"]) for c in "qkv")
        q, k, v = (y.view(rows, n, -1, HEAD).transpose(1, 2) for y in (q, k, v))
        q, k = (y * cos + torch.cat([-y[..., HEAD // 2 :], y[..., : HEAD // 2]], -1) * sin for y in (q, k))
        keys, values = cache[i]
        keys[:rows, :, at : at + n], values[:rows, :, at : at + n] = k, v
        keys, values = keys[:rows, :, : at + n], values[:rows, :, : at + n]
        q = q.reshape(rows, KV, HEADS // KV * n, HEAD) * HEAD**-0.5
        scores = (q @ keys.mT).view(rows, KV, HEADS // KV, n, -1) + bias
        mixed = scores.softmax(-1).view(rows, KV, HEADS // KV * n, -1) @ values
        mixed = mixed.view(rows, HEADS, n, HEAD).transpose(1, 2).reshape(rows, n, -1)
        x = x + F.linear(mixed, self.w[p + "attn_output.weight"])
        h = rms(x, self.w[p + "ffn_norm.weight"])
        gate, up = (F.linear(h, self.w[f"{p}ffn_{c}.weight"]) for c in ("gate", "up"))
        return x + F.linear(F.silu(gate) * up, self.w[p + "ffn_down.weight"])

    def run(self, tokens, start, cache, at):
        """Logits behind the last token. start is where each row's text begins."""
        n = tokens.shape[1]
        here = torch.arange(at, at + n, device=self.device)
        turn = BASE ** (-torch.arange(0, HEAD, 2, device=self.device).float() / HEAD)
        angle = (here[:, None] * turn).repeat(1, 2)
        cos, sin = angle.cos().bfloat16(), angle.sin().bfloat16()
        there = torch.arange(at + n, device=self.device)
        seen = (there <= here[:, None]) & (there >= start[:, None, None])
        seen |= there == here[:, None]  # so that padding sees something
        bias = torch.zeros(seen.shape, dtype=torch.bfloat16, device=self.device).masked_fill_(~seen, -1e4)
        bias = bias[:, None, None]
        x = F.embedding(tokens, self.w["output.weight"])
        for i in range(LAYERS):
            x = self.layer(i, x, cos, sin, cache, at, bias)
        return F.linear(rms(x[:, -1], self.w["output_norm.weight"]), self.w["output.weight"]).float()

    @torch.no_grad()
    def ask(self, prompts, most, generator, temperature=0.7, top=30, piece=256):
        ids = [self.text.encode(p, add_special_tokens=False).ids for p in prompts]
        longest, rows = max(map(len, ids)), len(ids)
        tokens = torch.tensor([[self.end] * (longest - len(i)) + i for i in ids], device=self.device)
        start = torch.tensor([longest - len(i) for i in ids], device=self.device)
        size = (rows, KV, longest + most, HEAD)
        cache = [[torch.zeros(size, dtype=torch.bfloat16, device=self.device) for _ in "kv"] for _ in range(LAYERS)]
        logits = torch.cat(
            [
                self.run(tokens[r : r + piece], start[r : r + piece], [[c[r : r + piece] for c in l] for l in cache], 0)
                for r in range(0, rows, piece)
            ]
        )
        done, out = torch.zeros(rows, dtype=torch.bool, device=self.device), []
        for step in range(most):
            best, which = (logits / temperature).topk(top)
            picked = torch.multinomial(best.softmax(-1), 1, generator=generator)
            token = which.gather(1, picked).masked_fill(done[:, None], self.end)
            done |= token[:, 0] == self.end
            out.append(token)
            if step % 32 == 31 and done.float().mean() > 0.97:
                break
            logits = self.run(token, start, cache, longest + step)
        texts = self.text.decode_batch(torch.cat(out, 1).tolist(), skip_special_tokens=True)
        return list(zip(texts, done.tolist()))


def chat(system, user):
    return f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"


def ask(folder, prompts, out, seconds, rows, most):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = time.time()
    teacher = Teacher(folder, device)
    print(f"loaded in {time.time() - began:.0f} s", flush=True)
    with open(prompts) as file:
        todo = [json.loads(line) for line in file]
    generator, took, total = torch.Generator(device).manual_seed(1), 0.0, 0
    with open(out, "w") as file:
        for i in range(0, len(todo), rows):
            if time.time() - began + took > seconds:
                break
            batch, at = todo[i : i + rows], time.time()
            for p, (text, done) in zip(batch, teacher.ask([chat(p["system"], p["user"]) for p in batch], most, generator)):
                file.write(json.dumps({**p, "text": text, "done": done}) + "\n")
                total += len(text)
            took = time.time() - at
            print(f"{i + len(batch)} prompts, {total / 1e6:.1f} MB, {took:.0f} s, {time.time() - began:.0f} s", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("what", choices=["pack", "ask"])
    p.add_argument("paths", nargs="+")
    p.add_argument("--seconds", type=float, default=200)
    p.add_argument("--rows", type=int, default=4096)
    p.add_argument("--most", type=int, default=384)
    a = p.parse_args()
    if a.what == "pack":
        pack(*a.paths)
    else:
        ask(*a.paths, a.seconds, a.rows, a.most)


if __name__ == "__main__":
    main()
