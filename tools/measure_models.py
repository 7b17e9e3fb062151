#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of transformers through Ingot, eager PyTorch and inductor, on one GPU: measure_models.py.

Each model has 4 layers of real width and random weights, and a process of its own. Models compile
beside each other; a lock keeps their measurements apart. Prints a table: milliseconds of a call as
a CUDA graph, so that the host does not matter, and the error against the same model in f64, in the
Frobenius norm, over the norm of the exact result. Exit status 1 if a model failed, if Ingot is
slower than the faster of the others, or if its error is more than 1.1 times the least of theirs.
"""
import argparse
import fcntl
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ("gpt2", "bert", "vit", "t5", "llama", "qwen2", "mistral")
PRECISIONS = ("bf16", "tf32", "f32")
BACKENDS = ("eager", "inductor", "ingot")
SLACK = 1.1
LAYERS, BATCH, TOKENS, WORDS = 4, 4, 512, 1000


def model_of(name):
    """A model of `name` with random weights, and its inputs by name."""
    import torch
    import transformers as hub

    def words():
        return torch.randint(0, WORDS, (BATCH, TOKENS), device="cuda")
    if name == "gpt2":
        return (hub.GPT2Model(hub.GPT2Config(n_layer=LAYERS, vocab_size=WORDS)),
                {"input_ids": words()})
    if name == "bert":
        return (hub.BertModel(hub.BertConfig(num_hidden_layers=LAYERS, vocab_size=WORDS)),
                {"input_ids": words()})
    if name == "vit":
        return (hub.ViTModel(hub.ViTConfig(num_hidden_layers=LAYERS)),
                {"pixel_values": torch.randn(4 * BATCH, 3, 224, 224, device="cuda")})
    if name == "t5":
        config = hub.T5Config(d_model=768, d_ff=3072, num_layers=LAYERS, num_heads=12,
                              vocab_size=WORDS)
        return hub.T5Model(config), {"input_ids": words(), "decoder_input_ids": words()}
    sizes = dict(hidden_size=2048, intermediate_size=5632, num_hidden_layers=LAYERS,
                 num_attention_heads=16, num_key_value_heads=4, vocab_size=WORDS)
    if name == "llama":
        return hub.LlamaModel(hub.LlamaConfig(**sizes)), {"input_ids": words()}
    if name == "qwen2":
        return hub.Qwen2Model(hub.Qwen2Config(**sizes)), {"input_ids": words()}
    return (hub.MistralModel(hub.MistralConfig(**sizes, sliding_window=TOKENS // 2)),
            {"input_ids": words()})


def milliseconds(call):
    """The median of calls as a graph."""
    import torch
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            call()
    torch.cuda.synchronize()
    times = []
    for turn in range(24):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if turn >= 4:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def measured(name, precisions, lock):
    """Rows of one model: by precision and backend, [milliseconds, error]."""
    import torch
    sys.path.insert(0, str(HERE.parent / "python"))
    import ingot.torch  # noqa: F401  (registers the backend)
    torch.manual_seed(0)
    module, inputs = model_of(name)
    module = module.cuda().eval()
    module.config.use_cache = False  # a new cache copies from the host, which no graph may hold

    def converted(dtype):
        return {key: value.to(dtype) if value.is_floating_point() else value
                for key, value in inputs.items()}
    rows = {}
    with torch.no_grad(), open(lock, "w") as file:
        for precision in sorted(precisions, key=PRECISIONS.index, reverse=True):  # bf16 rounds them
            torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
            dtype = torch.bfloat16 if precision == "bf16" else torch.float32
            module = module.to(dtype)
            exact = module.double()(**converted(torch.float64))[0]
            module = module.to(dtype)
            own = converted(dtype)
            rows[precision] = {}
            for backend in BACKENDS:
                torch._dynamo.reset()
                called = module if backend == "eager" else torch.compile(module, backend=backend,
                                                                         dynamic=False)
                result = called(**own)[0].double()
                error = ((result - exact).norm() / exact.norm()).item()
                fcntl.flock(file, fcntl.LOCK_EX)
                rows[precision][backend] = [milliseconds(lambda: called(**own)), error]
                fcntl.flock(file, fcntl.LOCK_UN)
    return rows


def rows_of(script, models, precisions):
    """(name, rows by precision) of each model, or (name, None) if it failed. Runs
    `script --one NAME LOCK --precisions ...` for all of them beside each other."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HF_HUB_OFFLINE="1", TORCHINDUCTOR_COMPILE_THREADS="2")
        jobs = {name: subprocess.Popen(
            [sys.executable, script, "--one", name, f"{folder}/lock", "--precisions", *precisions],
            env=environment, stdout=subprocess.PIPE, text=True) for name in models}
        for name, job in jobs.items():
            text, _ = job.communicate()
            if job.returncode:
                print(f"| {name} | failed: exit status {job.returncode} |", flush=True)
            yield name, None if job.returncode else json.loads(text.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--precisions", nargs="*", choices=PRECISIONS, default=PRECISIONS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], options.precisions, options.one[1])))
        return 0
    failed = False
    print("| model | precision | eager ms | inductor ms | Ingot ms | over the better | errors |\n"
          "|---|---|---|---|---|---|---|", flush=True)
    for name, rows in rows_of(__file__, options.models, options.precisions):
        failed |= rows is None
        for precision, row in (rows or {}).items():
            times, errors = ([row[backend][i] for backend in BACKENDS] for i in (0, 1))
            ratio = min(times[:2]) / times[2]
            failed |= ratio < 1 or errors[2] > SLACK * min(errors[:2])
            cells = [name, precision, *(f"{ms:.3f}" for ms in times), f"{ratio:.2f}",
                     ", ".join(f"{error:.1e}" for error in errors)]
            print(f"| {' | '.join(cells)} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
