# SPDX-License-Identifier: Apache-2.0
"""Checks emitted PyTorch files by the rules that static checkers of submitted kernels apply.

    check_submission.py FILE...

Some checkers cut lines at the first # or // before they look; others may not: the words of REFUSED
must not occur anywhere, comments included, and the patterns of either list not in the whole text.
"""
import pathlib
import re
import sys

REFUSED_WORDS = ["pass", "except", "try", "threading", "multiprocessing", "synchronize", "executor",
                 "ThreadPoolExecutor", "ProcessPoolExecutor", "perf_counter", "_make_subclass"]
REFUSED = [r"\btime\.time\b", r"\bconcurrent\.futures\b", r"\bimport\s+time\b",
           r"torch\.cuda\.Event\b", r"torch\.cuda\.synchronize\b", r"torch\.Tensor\.__new__",
           r"class\s+\w+.*\((torch\.)?Tensor\)"]
# The warnings of checkers: PyTorch's own operators, streams made in Python, f32 turned into f16.
SUSPECT = [r"torch\.nn\.", r"\bnn\.functional\b", r"\bF\.\w", r"cuda\.Stream\s*\(",
           r"\.wait_stream\s*\(", r"\.record_stream\s*\(", r"with\s+torch\.cuda\.stream",
           r"\btorch\.(mm|bmm|matmul|einsum|conv\w*|\w+_pool\dd|relu|hardtanh|elu|selu|leaky_relu|"
           r"gelu|soft\w+|log_softmax|tanh|sigmoid|hardsigmoid|silu|mish|\w+_norm|normalize|linear|"
           r"\w+_loss|cross_entropy|kl_div|cosine_similarity|logsumexp|clamp|dropout)\b",
           r"__float2half(_rn)?\s*\(", r"\(\s*__half\s*\)", r"static_cast\s*<\s*(__)?half\s*>",
           r"\.half\s*\(", r"\.float16\s*\(", r"\.to\s*\(\s*(dtype\s*=\s*)?torch\.(float16|half)\b",
           r"half_t\b"]
NEEDED = ["__global__", "load_inline", "__shared__ ", "__device__ "]


def complaints(text):
    words = set(re.findall(r"\w+", text))
    lowered = {word.lower() for word in words}
    found = [f"refused word {word!r}" for word in REFUSED_WORDS if word.lower() in lowered]
    found += [f"refused {match.group(0)!r}" for pattern in REFUSED
              if (match := re.search(pattern, text))]
    found += [f"suspect {match.group(0)!r}" for pattern in SUSPECT
              if (match := re.search(pattern, text))]
    return found + [f"lacks {needed!r}" for needed in NEEDED if needed not in text]


def main():
    failed = False
    for path in sys.argv[1:]:
        for complaint in complaints(pathlib.Path(path).read_text()):
            print(f"{path}: {complaint}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
