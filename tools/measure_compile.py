#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of a transformer's first call, through Ingot and through inductor: measure_compile.py.

Each model has 6 layers of real width and runs in a process of its own, with empty caches. Prints a
table: seconds of the first call, seconds with filled caches, and the kernels that Ingot
compiled. --profile prints where the time of Ingot's first call goes.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ("gpt2", "vit", "llama")


def model_of(name):
    """A model of `name` with random weights, and its inputs by name."""
    import torch
    import transformers as hub
    words = {"input_ids": torch.randint(0, 1000, (4, 256), device="cuda")}
    if name == "gpt2":
        return hub.GPT2Model(hub.GPT2Config(n_layer=6)), words
    if name == "vit":
        return (hub.ViTModel(hub.ViTConfig(num_hidden_layers=6)),
                {"pixel_values": torch.randn(4, 3, 224, 224, device="cuda")})
    config = hub.LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=6,
                             num_attention_heads=16, vocab_size=1000)
    return hub.LlamaModel(config), words


def first_call(name, backend, dtype, profiled):
    """Runs in a process of its own. Gives seconds of the first call behind one of eager."""
    import torch
    module, inputs = model_of(name)
    module = module.cuda().eval()
    if dtype != "f32":
        module = module.to(getattr(torch, dtype))
        inputs = {key: value.to(getattr(torch, dtype)) if value.is_floating_point() else value
                  for key, value in inputs.items()}
    with torch.no_grad():
        module(**inputs)
        torch.cuda.synchronize()
        compiled = torch.compile(module, backend=backend, dynamic=False)
        if profiled:
            import cProfile
            profile = cProfile.Profile()
            profile.enable()
        started = time.monotonic()
        compiled(**inputs)
        torch.cuda.synchronize()
        seconds = time.monotonic() - started
        if profiled:
            import pstats
            profile.disable()
            pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(18)
            pstats.Stats(profile, stream=sys.stderr).sort_stats("cumtime").print_stats("ingot", 30)
    return seconds


def measured(name, backend, dtype, profiled):
    """(seconds without caches, seconds with filled ones, kernels in Ingot's cache)."""
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, INGOT_CACHE_DIR=f"{cache}/ingot",
                           TORCHINDUCTOR_CACHE_DIR=f"{cache}/inductor",
                           TRITON_CACHE_DIR=f"{cache}/triton", HF_HUB_OFFLINE="1")
        seconds = []
        for turn in range(2):
            arguments = [sys.executable, __file__, "--one", name, backend, dtype]
            arguments += ["--profile"] if profiled and turn == 0 and backend == "ingot" else []
            done = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                return None
            seconds.append(json.loads(done.stdout.splitlines()[-1]))
        kernels = len(list(pathlib.Path(cache).glob("ingot/*/entries/*")))
        return (*seconds, kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--dtypes", nargs="*", default=["f32", "bfloat16"])
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if options.one:
        sys.path.insert(0, str(HERE.parent / "python"))
        import ingot.torch  # noqa: F401  (registers the backend)
        print(json.dumps(first_call(*options.one, options.profile)))
        return
    print("| model | type | inductor s | warm | Ingot s | warm | kernels |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in options.models:
        for dtype in options.dtypes:
            rows = {backend: measured(name, backend, dtype, options.profile)
                    for backend in ("inductor", "ingot")}
            cells = [f"{seconds:.1f}" for backend in ("inductor", "ingot")
                     for seconds in (rows[backend] or (float("nan"),) * 3)[:2]]
            cells.append(str(rows["ingot"][2]) if rows["ingot"] else "-")
            print(f"| {name} | {dtype} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
