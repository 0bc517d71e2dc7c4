"""The shapes of Gemma 4's image and audio towers in plain PyTorch, for training. Every step is that of the engine."""

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from model import linear, norm, rms


@dataclass
class Sizes:
    """Of both towers: width, heads, feed-forward and blocks."""

    width: int = 192
    heads: int = 6
    ff: int = 512  # of pictures; sound has four times its width
    blocks: int = 4
    patch: int = 16
    pool: int = 3
    places: int = 256  # rows and columns of patches at most
    taps: int = 5
    channels: tuple = (128, 32)
    epsilon: float = 1e-6

    def dict(self):
        return asdict(self)


def turned(x, at, size):
    """Rotates the first half of a head by the column, the second by the row."""
    quarter = size // 4
    turn = 100.0 ** (-2 * torch.arange(quarter, device=x.device).float() / (size // 2))
    parts = []
    for half, place in zip(x.float().chunk(2, -1), at):
        cos, sin = (f(place[:, None] * turn) for f in (torch.cos, torch.sin))
        a, b = half.chunk(2, -1)
        parts += [a * cos - b * sin, b * cos + a * sin]
    return torch.cat(parts, -1).to(x.dtype)


class Seeing(nn.Module):
    """A block of the image tower."""

    def __init__(self, s):
        super().__init__()
        self.heads, self.head, n = s.heads, s.width // s.heads, s.width
        self.ln1, self.ln2, self.attn_post_norm, self.ffn_post_norm = norm(n), norm(n), norm(n, 0.4), norm(n, 0.4)
        self.attn_q_norm, self.attn_k_norm = (norm(self.head, 1.2 * self.head**-0.25) for _ in range(2))
        self.attn_q, self.attn_k, self.attn_v, self.attn_out = (linear(n, n) for _ in range(4))
        self.ffn_gate, self.ffn_up, self.ffn_down = linear(s.ff, n), linear(s.ff, n), linear(n, s.ff)

    def forward(self, x, at):
        rows, count, _ = x.shape
        h = rms(x, self.ln1)
        q, k, v = (m(h).view(rows, count, self.heads, self.head).transpose(1, 2) for m in (self.attn_q, self.attn_k, self.attn_v))
        q, k = turned(rms(q, self.attn_q_norm), at, self.head), turned(rms(k, self.attn_k_norm), at, self.head)
        a = F.scaled_dot_product_attention(q, k, rms(v), scale=1.0)
        x = x + rms(self.attn_out(a.transpose(1, 2).reshape(rows, count, -1)), self.attn_post_norm)
        h = rms(x, self.ln2)
        return x + rms(self.ffn_down(F.gelu(self.ffn_gate(h), approximate="tanh") * self.ffn_up(h)), self.ffn_post_norm)


class Eyes(nn.Module):
    """Pictures of one size, [rows, channels, height, width] from 0 to 1, to soft tokens. Names follow "v." in the file."""

    def __init__(self, s, width):
        super().__init__()
        self.s = s
        self.patch_embd = linear(s.width, 3 * s.patch**2)
        self.position_embd = nn.Parameter(torch.randn(2, s.places, s.width) * 0.02)
        self.blk = nn.ModuleList(Seeing(s) for _ in range(s.blocks))
        self.input_projection = linear(width, s.width)

    def tower(self, pixels):
        s = self.s
        down, across = pixels.shape[2] // s.patch, pixels.shape[3] // s.patch
        x = pixels.unfold(2, s.patch, s.patch).unfold(3, s.patch, s.patch)  # rows, channel, down, across, row, column
        x = self.patch_embd(2 * x.permute(0, 2, 3, 4, 5, 1).flatten(3).flatten(1, 2) - 1)
        row, column = (t.flatten() for t in torch.meshgrid(torch.arange(down), torch.arange(across), indexing="ij"))
        row, column = row.to(x.device), column.to(x.device)
        x = x + (self.position_embd[0, column] + self.position_embd[1, row]).to(x.dtype)
        for block in self.blk:
            x = block(x, (column.float(), row.float()))
        x = x.view(len(x), down // s.pool, s.pool, across // s.pool, s.pool, -1).mean((2, 4)).flatten(1, 2)
        return x * s.width**0.5

    def forward(self, pixels):
        x = rms(self.tower(pixels))
        return x, self.input_projection(x)


def mel_filters():
    """128 triangles over 257 bins, equally spaced on the HTK scale."""
    points = 700 * (10 ** (torch.linspace(0, 2595 * math.log10(1 + 8000 / 700), 130, dtype=torch.float64) / 2595) - 1)
    bins = torch.arange(257, dtype=torch.float64)[:, None] * 31.25
    rise = (bins - points[:-2]) / (points[1:-1] - points[:-2])
    fall = (points[2:] - bins) / (points[2:] - points[1:-1])
    return torch.minimum(rise, fall).clamp(min=0).float()


def mel(samples, lengths, filters):
    """Frames [rows, frames, 128] of samples [rows, n] from -1 to 1, and which of them are valid."""
    x = F.pad(samples, (160, (-samples.shape[1]) % 128 + 320))
    window = 0.5 - 0.5 * torch.cos(2 * math.pi * torch.arange(320, device=x.device) / 320)
    spectrum = torch.fft.rfft(x.unfold(1, 320, 160) * window, 512).abs()
    frames = torch.log(spectrum @ filters + 0.001)
    frames = frames[:, : 4 * (-(-samples.shape[1] // 160) // 4 + 1)]
    valid = 160 * (torch.arange(frames.shape[1], device=x.device) + 1) < lengths[:, None]
    return frames * valid[..., None], valid


class Hearing(nn.Module):
    """A block of the audio tower."""

    def __init__(self, s):
        super().__init__()
        n, self.heads, self.head, self.taps = s.width, s.heads, s.width // s.heads, s.taps
        self.ffn_norm, self.ffn_norm_1, self.ln1, self.conv_norm, self.norm_conv, self.layer_pre_norm = (norm(n) for _ in range(6))
        self.ffn_post_norm, self.ffn_post_norm_1, self.ln2 = (norm(n, 0.6) for _ in range(3))
        self.ffn_up, self.ffn_down, self.ffn_up_1, self.ffn_down_1 = linear(4 * n, n), linear(n, 4 * n), linear(4 * n, n), linear(n, 4 * n)
        self.attn_q, self.attn_k, self.attn_v, self.attn_out, self.linear_pos = (linear(n, n) for _ in range(5))
        self.per_dim_scale = nn.Parameter(torch.zeros(self.head))  # before softplus
        self.conv_pw1, self.conv_pw2 = linear(2 * n, n), linear(n, n)
        self.conv_dw = nn.Parameter(torch.randn(n, s.taps) * s.taps**-0.5)

    def attention(self, h, near, valid):
        rows, count, n = h.shape
        q, k, v = (m(h).view(rows, count, self.heads, self.head).transpose(1, 2) for m in (self.attn_q, self.attn_k, self.attn_v))
        q = q * (F.softplus(self.per_dim_scale) * self.head**-0.5 / math.log(2)).to(q.dtype)
        k = k * (math.log(1 + math.e) / math.log(2))
        speed = torch.exp(-torch.arange(n // 2, device=h.device) * (math.log(10000) / (n // 2 - 1)))
        away = torch.arange(12, device=h.device)[:, None] * speed
        places = self.linear_pos(torch.cat([away.sin(), away.cos()], -1).to(h.dtype)).view(12, self.heads, self.head)
        far = torch.einsum("bhtd,phd->bhtp", q, places).float()  # by distance
        back = torch.arange(count, device=h.device)[:, None] - torch.arange(count, device=h.device)
        seen = (back >= 0) & (back < 12)
        logits = (q @ k.mT).float() + far.gather(3, back.clamp(0, 11).expand(rows, self.heads, count, count))
        logits = (50 * torch.tanh(logits / 50)).masked_fill(~(seen & valid[:, None, None, :]), -1e9)
        a = logits.softmax(-1).to(v.dtype) @ v
        return self.attn_out(a.transpose(1, 2).reshape(rows, count, n))

    def forward(self, x, near, valid):
        x = x + 0.5 * rms(self.ffn_down(F.silu(self.ffn_up(rms(x, self.ffn_norm)))), self.ffn_post_norm)
        x = x + rms(self.attention(rms(x, self.ln1), near, valid), self.ln2)
        h = F.glu(self.conv_pw1(rms(x, self.conv_norm)), -1)
        h = F.pad(h.mT, (self.taps - 1, 0))
        h = F.conv1d(h, self.conv_dw[:, None].to(h.dtype), groups=len(self.conv_dw)).mT
        x = x + self.conv_pw2(F.silu(rms(h, self.norm_conv)))
        x = x + 0.5 * rms(self.ffn_down_1(F.silu(self.ffn_up_1(rms(x, self.ffn_norm_1)))), self.ffn_post_norm_1)
        return rms(x, self.layer_pre_norm)


class Ears(nn.Module):
    """Mel frames to soft tokens. Names follow "a." in the file."""

    def __init__(self, s, width):
        super().__init__()
        first, second = s.channels
        self.conv0 = nn.Parameter(torch.randn(first, 1, 3, 3) / 3)
        self.conv1 = nn.Parameter(torch.randn(second, first, 3, 3) * (9 * first) ** -0.5)
        self.norm0, self.norm1, self.epsilon = norm(first), norm(second), s.epsilon
        self.out = linear(s.width, 32 * second)
        self.blk = nn.ModuleList(Hearing(s) for _ in range(s.blocks))
        self.fc = nn.Linear(s.width, width)
        self.input_projection = linear(width, width)

    def convolved(self, x, valid, weight, scale):
        x = F.conv2d(x * valid[:, None, :, None], weight.to(x.dtype), stride=2, padding=1)
        x = F.layer_norm(x.permute(0, 2, 3, 1).float(), scale.shape, scale, None, self.epsilon)
        return F.relu(x).permute(0, 3, 1, 2).to(weight.dtype if not torch.is_autocast_enabled("cuda") else torch.bfloat16)

    def forward(self, frames, valid):
        x = self.convolved(frames[:, None], valid, self.conv0, self.norm0)
        valid = valid[:, ::2]
        x = self.convolved(x, valid, self.conv1, self.norm1)
        valid = valid[:, ::2]
        x = self.out(x.permute(0, 2, 3, 1).flatten(2))  # mel by mel, channels last
        for block in self.blk:
            x = block(x, None, valid)
        return x, self.input_projection(rms(self.fc(x))), valid


def tensors(eyes, ears):
    """Arrays under the file's names."""
    def plain(p):
        return p.detach().float().cpu().numpy()

    s = eyes.s
    for name, p in eyes.named_parameters():
        if name == "patch_embd.weight":
            yield "v.patch_embd.weight", plain(p).reshape(-1, s.patch, s.patch, 3).transpose(0, 3, 1, 2)
        elif name == "input_projection.weight":
            yield "mm.input_projection.weight", plain(p)
        else:
            yield "v." + name.removesuffix(".weight") + ".weight", plain(p)
    whole = {"conv0": "a.conv1d.0", "conv1": "a.conv1d.1", "norm0": "a.conv1d.0.norm", "norm1": "a.conv1d.1.norm", "out": "a.pre_encode.out",
             "fc": "mm.a.fc", "input_projection": "mm.a.input_projection"}  # fmt: skip
    for name, p in ears.named_parameters():
        if name == "fc.bias":
            yield "mm.a.fc.bias", plain(p)
            continue
        name = name.removesuffix(".weight")
        if name.endswith("per_dim_scale"):
            p = F.softplus(p)
        yield whole.get(name, "a." + name) + ".weight", plain(p)


def metadata(s):
    """The towers' keys, below gemma4."""
    seen = {"vision." + k: v for k, v in {"block_count": s.blocks, "embedding_length": s.width, "attention.head_count": s.heads,
        "feed_forward_length": s.ff, "patch_size": s.patch, "num_channels": 3, "projector.scale_factor": s.pool,
        "attention.layer_norm_epsilon": s.epsilon}.items()}  # fmt: skip
    heard = {"audio." + k: v for k, v in {"block_count": s.blocks, "embedding_length": s.width, "attention.head_count": s.heads,
        "feed_forward_length": 4 * s.width, "conv_kernel_size": s.taps, "attention.layer_norm_epsilon": s.epsilon}.items()}  # fmt: skip
    return seen | heard
