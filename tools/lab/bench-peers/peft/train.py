#!/usr/bin/env python3
"""Measures LoRA training steps of PEFT over transformers' Gemma 4 with random weights of the E2B sizes.

    train.py [--tokens 512] [--rank 16] [--repeats 10] [--checkpointing] [--json FILE]

A step is forward, backward, clipping and AdamW over one text of random tokens, each a target: what `gemwire bench
train` measures. Prints milliseconds and the most bytes that PyTorch had allocated at once.
"""
import argparse
import json
import statistics
import time

import torch
import transformers
from peft import LoraConfig, get_peft_model
from transformers import Gemma4ForCausalLM, Gemma4TextConfig

LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def e2b(layers):
    """The sizes of E2B."""
    kinds = ["full_attention" if i % 5 == 4 else "sliding_attention" for i in range(layers)]
    return Gemma4TextConfig(
        vocab_size=262144, vocab_size_per_layer_input=262144, hidden_size=1536, intermediate_size=6144, num_hidden_layers=layers,
        num_attention_heads=8, num_key_value_heads=1, head_dim=256, hidden_size_per_layer_input=256, num_kv_shared_layers=20,
        use_double_wide_mlp=True, layer_types=kinds, sliding_window=512, final_logit_softcapping=30.0, use_cache=False,
    )


def build(args, device):
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = Gemma4ForCausalLM(e2b(35))
    torch.set_default_dtype(torch.float32)
    model = get_peft_model(model, LoraConfig(r=args.rank, lora_alpha=2 * args.rank, target_modules=LINEARS))
    if args.checkpointing:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    return model.train()


def measure(args):
    device = torch.device("cuda")
    model = build(args, device)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-4, weight_decay=0.01)
    ids = torch.randint(0, 262144, (1, args.tokens), device=device)
    times, losses = [], []
    for i in range(args.repeats + 3):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        torch.cuda.synchronize()
        if i >= 3:
            times.append(1000 * (time.perf_counter() - begun))
    return {
        "device": torch.cuda.get_device_name(device), "torch": torch.__version__, "transformers": transformers.__version__,
        "parameters": sum(p.numel() for p in model.parameters()), "trained": sum(p.numel() for p in trained),
        "milliseconds": {"median": statistics.median(times), "min": min(times), "max": max(times), "runs": times},
        "bytes": torch.cuda.max_memory_allocated(device), "losses": losses,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--checkpointing", action="store_true", help="compute layers again for the way back")
    parser.add_argument("--json")
    args = parser.parse_args()
    result = measure(args)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(result, f)
    m = result["milliseconds"]
    print(f"{result['device']}, PyTorch {result['torch']}, transformers {result['transformers']}")
    print(f"step    {m['median']:.1f} ms  (from {m['min']:.1f} to {m['max']:.1f}), {result['bytes'] / 1e9:.2f} GB at most, "
          f"{result['trained'] / 1e6:.1f} M of {result['parameters'] / 1e6:.0f} M parameters trained, loss {result['losses'][-1]:.2f}")


if __name__ == "__main__":
    main()
