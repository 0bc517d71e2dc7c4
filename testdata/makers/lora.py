"""What PyTorch makes of an adapter on a model: logits, loss, gradients, and a run of AdamW."""

import math
from contextlib import contextmanager

import torch
import torch.nn.functional as F

RANK, ALPHA, STEPS, RATE = 4, 8, 20, 5e-3
LINEARS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
TEXTS = [
    ("<bos><|turn>user\nWho are you?<turn|>\n<|turn>model\n", "I am a test.<turn|>\n"),
    (
        "<bos><|turn>user\nCount to five, slowly and without a mistake, please.<turn|>\n<|turn>model\n",
        "1, 2, 3, 4, 5. That was five.<turn|>\n",
    ),
]


def linears(model):
    """The linears that a text runs through, by PEFT's names. Layers that share keys have none of their own."""
    config = getattr(model.config, "text_config", model.config)
    layers = config.num_hidden_layers - getattr(config, "num_kv_shared_layers", 0)
    for name, module in model.named_modules():
        part = name.rsplit(".", 1)[-1]
        inside = "language_model.layers." in name or name.startswith("model.layers.")
        if inside and part in LINEARS and isinstance(module, torch.nn.Linear):
            if part not in ("k_proj", "v_proj") or int(name.split("layers.")[1].split(".")[0]) < layers:
                yield "base_model.model." + name, module


def adapter(model, seed):
    """A as PEFT begins with it, and B that is not zero, so that it changes what the model says."""
    torch.manual_seed(seed)
    pairs = {}
    for name, module in linears(model):
        a = torch.empty(RANK, module.in_features)
        torch.nn.init.kaiming_uniform_(a, a=math.sqrt(5))
        pairs[name + ".lora_A.weight"] = a
        pairs[name + ".lora_B.weight"] = 0.15 * torch.randn(module.out_features, RANK)
    return pairs


@contextmanager
def applied(model, pairs, scale):
    def hook(a, b):
        return lambda module, inputs, output: output + scale * F.linear(F.linear(inputs[0], a), b)

    handles = [
        module.register_forward_hook(hook(pairs[name + ".lora_A.weight"], pairs[name + ".lora_B.weight"]))
        for name, module in linears(model)
    ]
    try:
        yield
    finally:
        for h in handles:
            h.remove()


def loss_of(model, examples, targets):
    """Cross-entropy over the targets of all examples; the last id of an example, a newline, is none."""
    total = 0
    for e in examples:
        ids, begin = torch.tensor(e["ids"]), e["first_target"]
        logits = model(input_ids=ids[None], use_cache=False).logits[0]
        total = total + F.cross_entropy(logits[begin - 1 : -2], ids[begin:-1], reduction="sum")
    return total / targets


def references(model, case, pairs):
    """Everything of lora.json and lora.safetensors that is computed."""
    for p in model.parameters():
        p.requires_grad_(False)
    scale = case["alpha"] / case["r"]
    targets = sum(len(e["ids"]) - 1 - e["first_target"] for e in case["examples"])
    arrays, pairs = {}, {n: p.clone().requires_grad_() for n, p in pairs.items()}
    with applied(model, pairs, scale):
        with torch.no_grad():
            arrays["logits"] = model(input_ids=torch.tensor([case["prompt_ids"]]), use_cache=False).logits[0]
        loss = loss_of(model, case["examples"], targets)
        loss.backward()
    arrays |= {"adapter." + n: p.detach() for n, p in pairs.items()}
    arrays |= {"grad." + n: p.grad for n, p in pairs.items()}
    trained, run = train(model, case["examples"], targets, pairs, scale)
    arrays |= {"trained." + n: p for n, p in trained.items()}
    return arrays, {"loss": loss.item(), "targets": targets, "run": run}


def train(model, examples, targets, pairs, scale):
    """STEPS steps with both examples in each, from B = 0."""
    trained = {
        n: (torch.zeros_like(p) if "lora_B" in n else p.detach().clone()).requires_grad_() for n, p in pairs.items()
    }
    optimizer = torch.optim.AdamW(trained.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    losses, norms = [], []
    with applied(model, trained, scale):
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = loss_of(model, examples, targets)
            loss.backward()
            norms.append(torch.nn.utils.clip_grad_norm_(trained.values(), 1.0).item())
            optimizer.step()
            losses.append(loss.item())
    return {n: p.detach() for n, p in trained.items()}, {"losses": losses, "grad_norms": norms}
