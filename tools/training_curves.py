#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Losses of training runs through Ingot and eager PyTorch, on one GPU: training_curves.py.

Trains a GPT-2 of 4 layers on sequences of a random Markov chain, and an MLP-Mixer on noisy
patterns, with AdamW, from the same weights and data for each of three seeds. Prints a table: per
window of steps the mean loss of eager's three runs, their spread (largest less smallest), and the
mean of Ingot's runs less that of eager's. Then says whether two runs of Ingot give the same bits.
Exit status 1 if a difference is larger than the spread, if bits differ, or if Ingot took no part.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

MODELS = ("gpt2", "mixer")
SEEDS = (0, 1, 2)
WINDOWS = 10
WORDS, TOKENS, BATCH = 512, 256, 8
CLASSES, PIXELS, PATCH, IMAGES = 16, 64, 8, 64


def gpt2():
    """A language model."""
    import transformers as hub
    module = hub.GPT2LMHeadModel(hub.GPT2Config(
        vocab_size=WORDS, n_positions=TOKENS, n_embd=256, n_layer=4, n_head=4, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
    module.config.use_cache = False
    return module


def mixer(width=256, layers=4):
    """An MLP-Mixer (Tolstikhin et al., "MLP-Mixer: An all-MLP Architecture for Vision", 2021)."""
    from torch import nn
    patches = (PIXELS // PATCH) ** 2

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.tokens = nn.Sequential(nn.Linear(patches, 2 * patches), nn.GELU(),
                                        nn.Linear(2 * patches, patches))
            self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                          nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.tokens(self.first(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.second(x))

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Linear(3 * PATCH * PATCH, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

        def forward(self, x):
            return self.head(self.norm(self.blocks(self.embed(x))).mean(1))
    return Whole()


def sentences(generator):
    """Batches of a Markov chain in which each word has four successors."""
    import torch
    successors = torch.randint(0, WORDS, (WORDS, 4), generator=generator, device="cuda")
    while True:
        words = [torch.randint(0, WORDS, (BATCH,), generator=generator, device="cuda")]
        choices = torch.randint(0, 4, (TOKENS, BATCH), generator=generator, device="cuda")
        for choice in choices[1:]:
            words.append(successors[words[-1], choice])
        yield torch.stack(words, 1), None


def pictures(generator):
    """Batches of patches of noisy patterns, and their classes."""
    import torch
    shape = ((PIXELS // PATCH) ** 2, 3 * PATCH * PATCH)
    patterns = torch.randn(CLASSES, *shape, generator=generator, device="cuda")
    while True:
        classes = torch.randint(0, CLASSES, (IMAGES,), generator=generator, device="cuda")
        noise = torch.randn(IMAGES, *shape, generator=generator, device="cuda")
        yield patterns[classes] * 0.1 + noise, classes


def loss_of(name, call, batch):
    """The cross entropy of the next words, or of the classes."""
    import torch
    data, classes = batch
    if name == "gpt2":
        scores = call(input_ids=data).logits
        return torch.nn.functional.cross_entropy(scores[:, :-1].reshape(-1, WORDS).float(),
                                                 data[:, 1:].reshape(-1))
    return torch.nn.functional.cross_entropy(call(data).float(), classes)


def run(name, backend, seed, steps, autocast):
    """The losses of a run, and its last parameters."""
    import torch
    torch.manual_seed(seed)
    module = (gpt2() if name == "gpt2" else mixer()).cuda()
    torch._dynamo.reset()
    call = module if backend == "eager" else torch.compile(module, backend=backend, dynamic=False)
    optimizer = torch.optim.AdamW(module.parameters(), 1e-3)
    batches = (sentences if name == "gpt2" else pictures)(
        torch.Generator("cuda").manual_seed(1000 + seed))
    losses = []
    for _ in range(steps):
        batch = next(batches)
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            loss = loss_of(name, call, batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return torch.stack(losses).double().cpu(), [p.detach().clone() for p in module.parameters()]


def compared(name, steps, autocast):
    """Prints the rows of a model. Whether Ingot's losses are within the spread, and its bits
    repeat."""
    import torch
    runs = {backend: [run(name, backend, seed, steps, autocast) for seed in SEEDS]
            for backend in ("eager", "ingot")}
    means = {backend: torch.stack([losses.reshape(WINDOWS, -1).mean(1) for losses, _ in of])
             for backend, of in runs.items()}
    eager, spread = means["eager"], means["eager"].max(0).values - means["eager"].min(0).values
    difference = means["ingot"].mean(0) - eager.mean(0)
    length = steps // WINDOWS
    for window in range(WINDOWS):
        print(f"| {name} | {window * length + 1}-{(window + 1) * length} | "
              f"{eager[:, window].mean():.4f} | {spread[window]:.4f} | {difference[window]:+.1e} |")
    again = run(name, "ingot", SEEDS[0], steps, autocast)
    first = runs["ingot"][0]
    is_same = torch.equal(again[0], first[0]) and all(
        torch.equal(a, b) for a, b in zip(again[1], first[1]))
    print(f"{name}: two runs of Ingot {'have the same bits' if is_same else 'differ'}", flush=True)
    return is_same and bool((difference.abs() <= spread).all())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--autocast", action="store_true", help="f32 parameters, bf16 products")
    options = parser.parse_args()
    if options.steps <= 0 or options.steps % WINDOWS:
        parser.error(f"--steps: expected a multiple of {WINDOWS}, got {options.steps}")
    import torch
    if not torch.cuda.is_available():
        parser.error("expected a CUDA device, found none")
    import ingot.torch  # noqa: F401  (registers the backend)
    from ingot.torch.compiled import num_compiled
    print("| model | steps | loss, eager | spread of seeds | Ingot less eager |\n"
          "|---|---|---|---|---|", flush=True)
    passed = [compared(name, options.steps, options.autocast) for name in options.models]
    print(f"{num_compiled()} programs of Ingot")
    return int(not all(passed) or num_compiled() == 0)


if __name__ == "__main__":
    sys.exit(main())
