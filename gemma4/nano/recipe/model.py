"""The shape of Gemma 4's text model in plain PyTorch, for training: packed documents in, one loss out.

Every step is that of the engine. A row holds many documents, one behind another; attention ends at their borders.
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


@dataclass
class Shape:
    vocabulary: int = 8192
    width: int = 512
    pattern: str = "SSGSSGSSGSSG"  # S sliding, G global
    shared: int = 6  # of the last layers, which have no keys and values of their own
    heads: int = 8
    head: tuple = (64, 128)  # sliding, global
    ff: int = 768  # twice that in layers that share keys and values
    per_layer: int = 64
    window: int = 256
    context: int = 4096
    softcap: float = 30.0
    epsilon: float = 1e-6

    def of(self, i):
        """A layer's head size, feed-forward, whether it is global, and whether it has keys and values."""
        whole, own = self.pattern[i] == "G", i < len(self.pattern) - self.shared
        return self.head[whole], self.ff * (1 if own else 2), whole, own

    def source(self, i):
        """The layer whose keys and values layer i reads."""
        last = len(self.pattern) - self.shared
        return i if i < last else max(j for j in range(last) if self.pattern[j] == self.pattern[i])

    def dict(self):
        return asdict(self)


# A shape that a CPU trains in a minute, for the test of the recipe.
TINY = dict(vocabulary=1024, width=256, pattern="SSGSSG", shared=3, heads=4, ff=256, per_layer=128)


def rms(x, weight=None, epsilon=1e-6):
    y = x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + epsilon)
    return (y if weight is None else y * weight).to(x.dtype)


def angles(shape, length, whole, device):
    """Cosines and sines of the rotation. Global layers turn a quarter of their pairs."""
    size = shape.head[whole]
    turn = (1e6 if whole else 1e4) ** (-2 * torch.arange(size // 2, device=device, dtype=torch.float32) / size)
    if whole:
        turn[size // 8 :] = 0
    at = torch.arange(length, device=device, dtype=torch.float32)[:, None] * turn
    return at.cos(), at.sin()


def rotate(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


def attend(q, k, v, mask):
    """Attention with scale 1. A CPU has no backward step of flex_attention: there the mask is a dense one."""
    if isinstance(mask, torch.Tensor):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0, enable_gqa=True)
    return flex_attention(q, k, v, block_mask=mask, scale=1.0, enable_gqa=True)


def linear(out, inner):
    weight = nn.Linear(inner, out, bias=False)
    nn.init.normal_(weight.weight, 0, inner**-0.5)
    return weight


def norm(size, value=1.0):
    return nn.Parameter(torch.full((size,), float(value)))


class Layer(nn.Module):
    """Names are those of the file, below blk.N."""

    def __init__(self, s, i):
        super().__init__()
        self.head, ff, self.whole, self.own = s.of(i)
        self.heads, self.epsilon, after = s.heads, s.epsilon, 0.4
        self.attn_norm, self.ffn_norm = norm(s.width), norm(s.width)
        self.post_attention_norm, self.post_ffw_norm = norm(s.width, after), norm(s.width, after)
        self.post_norm = norm(s.width, after)
        self.attn_q_norm = norm(self.head, 1.2 * self.head**-0.25)
        self.attn_q = linear(s.heads * self.head, s.width)
        self.attn_output = linear(s.width, s.heads * self.head)
        if self.own:
            self.attn_k_norm = norm(self.head, 1.2 * self.head**-0.25)
            self.attn_k, self.attn_v = linear(self.head, s.width), linear(self.head, s.width)
        self.ffn_gate, self.ffn_up, self.ffn_down = linear(ff, s.width), linear(ff, s.width), linear(s.width, ff)
        self.inp_gate, self.proj = linear(s.per_layer, s.width), linear(s.width, s.per_layer)

    def keys_and_values(self, h, cos, sin):
        k = rotate(rms(self.attn_k(h), self.attn_k_norm, self.epsilon)[:, None], cos, sin)
        return k, rms(self.attn_v(h), None, self.epsilon)[:, None]

    def forward(self, x, extra, kv, cos, sin, mask):
        rows, length, _ = x.shape
        h = rms(x, self.attn_norm, self.epsilon)
        if self.own:
            kv = self.keys_and_values(h, cos, sin)
        q = rms(self.attn_q(h).view(rows, length, self.heads, self.head), self.attn_q_norm, self.epsilon)
        a = attend(rotate(q.transpose(1, 2), cos, sin), *kv, mask)
        a = self.attn_output(a.transpose(1, 2).reshape(rows, length, -1))
        x = x + rms(a, self.post_attention_norm, self.epsilon)
        h = rms(x, self.ffn_norm, self.epsilon)
        f = self.ffn_down(F.gelu(self.ffn_gate(h), approximate="tanh") * self.ffn_up(h))
        x = x + rms(f, self.post_ffw_norm, self.epsilon)
        e = self.proj(F.gelu(self.inp_gate(x), approximate="tanh") * extra)
        return x + rms(e, self.post_norm, self.epsilon), kv


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        s, layers = shape, len(shape.pattern)
        self.shape = s
        self.token_embd = nn.Embedding(s.vocabulary, s.width)
        self.per_layer_token_embd = nn.Embedding(s.vocabulary, s.per_layer * layers)
        nn.init.normal_(self.token_embd.weight, 0, s.width**-0.5)
        nn.init.normal_(self.per_layer_token_embd.weight, 0, 0.02)
        self.per_layer_model_proj = linear(s.per_layer * layers, s.width)
        self.per_layer_proj_norm = norm(s.per_layer)
        self.output_norm = norm(s.width)
        self.blk = nn.ModuleList(Layer(s, i) for i in range(layers))

    def masks(self, tokens, bos):
        """Block masks: a token sees its own document, and on sliding layers only the window behind it."""
        rows, length = tokens.shape
        document = (tokens == bos).cumsum(1)

        def whole(b, h, q, k):
            return (q >= k) & (document[b, q] == document[b, k])

        def sliding(b, h, q, k):
            return whole(b, h, q, k) & (q - k < self.shape.window)

        if tokens.is_cuda:
            make = torch.compile(create_block_mask)
            return [make(m, rows, None, length, length, device=tokens.device) for m in (sliding, whole)]
        b, q = torch.arange(rows)[:, None, None, None], torch.arange(length)[:, None]
        return [m(b, 0, q, torch.arange(length)) for m in (sliding, whole)]

    def hidden(self, tokens, masks, soft=None, places=None, marks=()):
        """The stream behind the last layer. Soft tokens stand in for embeddings at flat places, where tokens are marks."""
        s = self.shape
        x = self.token_embd(tokens) * s.width**0.5
        if soft is not None:
            x = x.flatten(0, 1).index_copy(0, places, soft.to(x.dtype)).view(x.shape)
            for mark in marks:  # their per-layer embedding is that of the pad token
                tokens = tokens.masked_fill(tokens == mark, 0)
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        parts = (*tokens.shape, len(s.pattern), s.per_layer)
        c = rms(self.per_layer_model_proj(x * s.width**-0.5).view(parts), self.per_layer_proj_norm, s.epsilon)
        e = self.per_layer_token_embd(tokens).view(parts) * s.per_layer**0.5
        extra = ((c + e) * 0.5**0.5).to(x.dtype)
        turns = [angles(s, tokens.shape[1], whole, tokens.device) for whole in (0, 1)]
        kept = {}
        for i, layer in enumerate(self.blk):
            x, kept[i] = layer(x, extra[:, :, i], kept.get(s.source(i)), *turns[layer.whole], masks[layer.whole])
        return x

    def loss(self, x, targets, weights):
        """Mean cross-entropy of the next token, each counted by its weight."""
        logits = F.linear(rms(x, self.output_norm, self.shape.epsilon), self.token_embd.weight.to(x.dtype)).float()
        logits = self.shape.softcap * torch.tanh(logits / self.shape.softcap)
        each = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        return (each * weights.flatten()).sum() / weights.sum().clamp(min=1)
