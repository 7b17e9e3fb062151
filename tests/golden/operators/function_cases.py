# SPDX-License-Identifier: Apache-2.0
"""The cases of make_goldens.py for functions that stand for several of PyTorch's lines: parts,
tensors of numbers, sums by labels, and losses of classes."""

import torch
import torch.nn.functional as F

NAN, INF = float("nan"), float("inf")


def add_elementwise(case, unary):
    unary("tan", torch.tan)
    # In f32 PyTorch's vectorised forms overflow early on some processors.
    for name, op in dict(sinh=torch.sinh, cosh=torch.cosh).items():
        for inputs in ("special", "edge", "numbers"):
            unary(name, lambda x, op=op: op(x.double()).to(x.dtype), inputs=inputs)
    unary("tan", torch.tan, inputs="numbers")
    unary("atan", torch.atan)
    unary("atan", torch.atan, inputs="half")
    # In f32 PyTorch's vectorised forms give NaN for subnormal divisors on some processors.
    for name, op in dict(fmod=torch.fmod, remainder=torch.remainder).items():
        case(f"{name}(left, right)", "left right",
             lambda a, b, op=op: op(a.double(), b.double()).to(a.dtype), zero_signs=True)
        case(f"{name}(numbers, 0.75)", "numbers", lambda x, op=op: op(x, 0.75), zero_signs=True)
        case(f"{name}(numbers, -1.5)", "numbers", lambda x, op=op: op(x, -1.5))
        case(f"{name}(ints, ints2)", "ints ints2", op)
        case(f"{name}(longs, -7)", "longs", lambda x, op=op: op(x, -7))
    case('div(left, right, rounding_mode="floor")', "left right",
         lambda a, b: torch.div(a.double(), b.double(), rounding_mode="floor").to(a.dtype),
         zero_signs=True)
    case('div(wholes, tenths, rounding_mode="floor")', "wholes tenths",
         lambda a, b: torch.div(a, b, rounding_mode="floor"), zero_signs=True)
    case('div(wholes, 0.75, rounding_mode="floor")', "wholes",
         lambda x: torch.div(x, 0.75, rounding_mode="floor"))
    case("remainder(wholes, tenths)", "wholes tenths", torch.remainder)
    unary("celu", F.celu)
    unary("celu", lambda x: F.celu(x, 2.5), "celu({}, alpha=2.5)")
    unary("celu", lambda x: F.celu(x, -1.5), "celu({}, alpha=-1.5)", "numbers")
    case("prelu(special, reshape(narrow(numbers, 0, 3, 1), []))", "special numbers",
         lambda x, w: F.prelu(x, w[3:4]), zero_signs=True)
    case("prelu(cube, gamma8)", "cube gamma8", F.prelu)
    case("prelu(plain, narrow(numbers, 0, 3, 1))", "plain numbers",
         lambda x, w: F.prelu(x, w[3:4]))
    case("glu(hard)", "hard", F.glu)
    case("glu(cube, dim=1)", "cube", lambda x: F.glu(x, 1))
    case("clip(special, -2, 3)", "special", lambda x: torch.clip(x, -2, 3))
    case("clamp(left, min=right)", "left right", lambda a, b: torch.clamp(a, min=b))
    case("clamp(left, right, 2.5)", "left right",
         lambda a, b: torch.clamp(torch.clamp(a, min=b), max=2.5))
    case("masked_fill(left, flags, nan)", "left flags", lambda x, m: x.masked_fill(m, NAN))
    case("masked_fill(ints, ints > 0, -3)", "ints", lambda x: x.masked_fill(x > 0, -3))
    case("masked_fill(flags, flags2, true)", "flags flags2", lambda x, m: x.masked_fill(m, True))
    case("masked_fill(plain, tied > 1, reshape(narrow(numbers, 0, 3, 1), []))",
         "plain tied numbers", lambda x, t, n: x.masked_fill(t > 1, n[3]))


def add_shrinks(case, unary):
    for name, op in dict(hardshrink=F.hardshrink, softshrink=F.softshrink).items():
        unary(name, op)
        unary(name, op, inputs="half")
        unary(name, lambda x, op=op: op(x, 1.7), f"{name}({{}}, lambd=1.7)", "numbers")
    unary("threshold", lambda x: F.threshold(x, 0.1, -20), "threshold({}, 0.1, -20)")
    case("threshold(ints, 5, 7)", "ints", lambda x: F.threshold(x, 5, 7))
    for weight in (0.0, 0.3, 0.5, 1.0, -2.0):
        case(f"lerp(numbers, reversed, {weight})", "numbers reversed",
             lambda a, b, w=weight: torch.lerp(a, b, w))
    case("lerp(left, right, 0.25)", "left right", lambda a, b: torch.lerp(a, b, 0.25))
    case("lerp(numbers, reversed, weight=positive)", "numbers reversed positive", torch.lerp)
    case("addcmul(numbers, reversed, positive)", "numbers reversed positive", torch.addcmul)
    case("addcmul(numbers, reversed, positive, value=-0.5)", "numbers reversed positive",
         lambda a, b, c: torch.addcmul(a, b, c, value=-0.5))
    case("addcmul(ints, ints2, ints2, value=3)", "ints ints2",
         lambda a, b: torch.addcmul(a, b, b, value=3))
    case("addcdiv(numbers, reversed, positive)", "numbers reversed positive", torch.addcdiv)
    case("addcdiv(numbers, reversed, positive, value=2.5)", "numbers reversed positive",
         lambda a, b, c: torch.addcdiv(a, b, c, value=2.5))


def add_arrangements(case):
    for shifts, dims in ((1, 1), (-2, 0), (11, -1), ((1, -3), (0, 2)), (0, 0)):
        is_pair = isinstance(shifts, tuple)
        given = f"{list(shifts)}, {list(dims)}" if is_pair else f"{shifts}, {dims}"
        case(f"roll(cube, {given})", "cube",
             lambda x, shifts=shifts, dims=dims: torch.roll(x, shifts, dims))
    case("roll(cube, 5)", "cube", lambda x: torch.roll(x, 5))
    case("roll(ints, shifts=-3, dims=0)", "ints", lambda x: torch.roll(x, -3, 0))
    for counts in ((0, 1), (2, 0), (1, 2, 3, 0), (-1, 2), (-2, -1), (1, -1, 0, 1, 2, 0)):
        case(f"pad(cube, {list(counts)}, value=2.5)", "cube",
             lambda x, counts=counts: F.pad(x, counts, value=2.5))
    case("pad(cube, (0, 1))", "cube", lambda x: F.pad(x, (0, 1)))
    case("pad(ints, [1, 1], value=-7)", "ints", lambda x: F.pad(x, (1, 1), value=-7))
    case('pad(flags, [2, 0], "constant", true)', "flags", lambda x: F.pad(x, (2, 0), value=True))
    for counts in ((2, 1, 1), (1, 3, 2), (2, 1, 2, 1), (1, 1, 1)):
        case(f"cube.repeat({str(counts)[1:-1]})", "cube",
             lambda x, counts=counts: x.repeat(*counts))
    case("repeat(ints, [3])", "ints", lambda x: x.repeat(3))
    case("tile(cube, [2])", "cube", lambda x: torch.tile(x, (2,)))
    case("tile(cube, dims=(2, 3))", "cube", lambda x: torch.tile(x, (2, 3)))
    case("movedim(cube, 0, 2)", "cube", lambda x: torch.movedim(x, 0, 2))
    case("moveaxis(cube, [0, 1], [-1, 0])", "cube", lambda x: torch.movedim(x, (0, 1), (-1, 0)))
    case("swapaxes(cube, 0, -1)", "cube", lambda x: torch.swapaxes(x, 0, -1))
    case("unflatten(cube, 1, (2, 4))", "cube", lambda x: x.unflatten(1, (2, 4)))
    case("unflatten(cube, dim=-2, sizes=(4, -1))", "cube", lambda x: x.unflatten(-2, (4, -1)))
    case("zeros_like(cube)", "cube", torch.zeros_like)
    case("ones_like(ints)", "ints", torch.ones_like)
    case("full_like(ints, 7, dtype=f16)", "ints",
         lambda x: torch.full_like(x, 7, dtype=torch.float16))
    case("full_like(cube, fill_value=0.3)", "cube", lambda x: torch.full_like(x, 0.3))
    case("type_as(plain, longs)", "plain longs", lambda x, i: x.type_as(i))
    case("std(plain, dim=1, unbiased=False)", "plain", lambda x: x.std(1, unbiased=False))
    case("var(plain, 1, true)", "plain", lambda x: x.var(1, True))


def add_reductions(case):
    for name, op in dict(max=torch.max, min=torch.min).items():
        for inputs in ("hard", "tied"):
            case(f"{name}({inputs}, dim=1)", inputs, lambda x, op=op: tuple(op(x, 1)), 2)
        case(f"{name}(tied, 0, keepdim=true)", "tied",
             lambda x, op=op: tuple(op(x, 0, keepdim=True)), 2)
        case(f"{name}(plain)", "plain", lambda x, op=op: op(x))
        case(f"{name}(hard)", "hard", lambda x, op=op: op(x))
        case(f"{name}(longs)", "longs", lambda x, op=op: op(x))
        case(f"{name}(left, right)", "left right", lambda a, b, op=op: op(a, b))
        case(f"{name}(left, other=right)", "left right", lambda a, b, op=op: op(a, b))
        case(f"{name}(ints, ints2)", "ints ints2", lambda a, b, op=op: op(a, b))


def add_embedding_losses(case):
    for margin in ("", ", margin=0.4"):
        options = {"margin": 0.4} if margin else {}
        case(f"margin_ranking_loss(plain, plain2, sign{margin})", "plain plain2 sign",
             lambda a, b, t, o=options: F.margin_ranking_loss(a, b, t, **o))
        case(f'hinge_embedding_loss(plain, sign{margin}, reduction="none")', "plain sign",
             lambda x, t, o=options: F.hinge_embedding_loss(x, t, reduction="none", **o))
        case(f'cosine_embedding_loss(plain, plain2, sum(sign, 1) / abs(sum(sign, 1)){margin}, '
             'reduction="none")', "plain plain2 sign",
             lambda a, b, t, o=options: F.cosine_embedding_loss(
                 a, b, t.sum(1) / t.sum(1).abs(), reduction="none", **o))
    case("gaussian_nll_loss(plain, plain2, exp(tied))", "plain plain2 tied",
         lambda x, t, v: F.gaussian_nll_loss(x, t, v.exp()))
    case('gaussian_nll_loss(plain, plain2, exp(sum(tied, 1) / 100), full=true, eps=1, '
         'reduction="sum")', "plain plain2 tied",
         lambda x, t, v: F.gaussian_nll_loss(x, t, (v.sum(1) / 100).exp(), full=True, eps=1,
                                             reduction="sum"))
    case("poisson_nll_loss(plain, exp(plain2))", "plain plain2",
         lambda x, t: F.poisson_nll_loss(x, t.exp()))
    case('poisson_nll_loss(exp(plain), exp(plain2), log_input=false, full=true, reduction="none")',
         "plain plain2", lambda x, t: F.poisson_nll_loss(x.exp(), t.exp(), log_input=False,
                                                         full=True, reduction="none"))
    case("count_nonzero(ints)", "ints", torch.count_nonzero)
    case("count_nonzero(tied, [0, 1])", "tied", lambda x: torch.count_nonzero(x, (0, 1)))
    case("count_nonzero(flags, dim=0)", "flags", lambda x: torch.count_nonzero(x, 0))


def add_movement(case):
    case("cat([plain, tied], dim=-1)", "plain tied", lambda a, b: torch.cat([a, b], -1))
    for dim in (0, 1, 2, -1):
        case(f"stack([plain, tied, plain], dim={dim})", "plain tied",
             lambda a, b, dim=dim: torch.stack([a, b, a], dim))
    case("stack([ints, ints2])", "ints ints2", lambda a, b: torch.stack([a, b]))
    case("split(plain, 13, dim=1)", "plain", lambda x: torch.split(x, 13, 1), 3)
    case("split(plain, 100, dim=1)", "plain", lambda x: torch.split(x, 100, 1), 1)
    for dim in (0, 1, -1):
        case(f"repeat_interleave(cube, 3, dim={dim})", "cube",
             lambda x, dim=dim: torch.repeat_interleave(x, 3, dim))
    case("ints.repeat_interleave(2)", "ints", lambda x: torch.repeat_interleave(x, 2))
    case("repeat_interleave(cube, repeats=2)", "cube", lambda x: torch.repeat_interleave(x, 2))
    case("split(cube, [2, 5, 1], dim=-2)", "cube", lambda x: torch.split(x, [2, 5, 1], -2), 3)
    case("split(cube, 2)", "cube", lambda x: torch.split(x, 2), 2)
    case("chunk(plain, 3, dim=1)", "plain", lambda x: torch.chunk(x, 3, 1), 3)
    case("chunk(plain, 5, dim=0)", "plain", lambda x: torch.chunk(x, 5, 0), 3)
    case("chunk(flags, 4)", "flags", lambda x: torch.chunk(x, 4), 4)
    case("index_select(plain, 1, reshape(narrow(index, 1, 0, 1), [6]))", "plain index",
         lambda x, i: torch.index_select(x, 1, i[:, 0]))
    case("index_select(cube, dim=-1, index=arange(1, 5, 2))", "cube", lambda x: x[..., 1:5:2])
    case("embedding(index, weight32)", "index weight32", F.embedding)
    case("embedding(classes, weight32)", "classes weight32", F.embedding)
    case("embedding(reshape(narrow(classes, 0, 2, 1), []), weight=weight32)", "classes weight32",
         lambda i, w: F.embedding(i[2], w))
    case("gather(plain, 1, index)", "plain index", lambda x, i: torch.gather(x, 1, i))


def add_numbers(case):
    case("ones([2, 3])", "", lambda: torch.ones(2, 3))
    case("zeros(4, dtype=i32)", "", lambda: torch.zeros(4, dtype=torch.int32))
    case("ones([], dtype=bool)", "", lambda: torch.ones((), dtype=torch.bool))
    case("full([2, 2], 0.375)", "", lambda: torch.full((2, 2), 0.375))
    case("full([3], 7)", "", lambda: torch.full((3,), 7))
    case("full([3], true)", "", lambda: torch.full((3,), True))
    case("full([3], fill_value=-inf, dtype=f16)", "",
         lambda: torch.full((3,), -INF, dtype=torch.float16))
    case("arange(7)", "", lambda: torch.arange(7))
    case("arange(end=7)", "", lambda: torch.arange(end=7))
    case("arange(3, 12, 4)", "", lambda: torch.arange(3, 12, 4))
    case("arange(5, -3, -3, dtype=i32)", "", lambda: torch.arange(5, -3, -3, dtype=torch.int32))
    case("arange(2, 4, 0.5)", "", lambda: torch.arange(2, 4, 0.5))
    case("arange(3.5)", "", lambda: torch.arange(3.5))
    case("arange(0, 9, 2, dtype=f32)", "", lambda: torch.arange(0, 9, 2, dtype=torch.float32))
    case("one_hot(index, 32)", "index", lambda i: F.one_hot(i, 32))
    case("one_hot(reshape(narrow(classes, 0, 2, 1), []), num_classes=32)", "classes",
         lambda i: F.one_hot(i[2], 32))


def add_products(case):
    case("mm(plain, transpose(weight))", "plain weight", lambda a, b: torch.mm(a, b.T))
    case("bmm(a, b)", "a b", torch.bmm)
    for options in ("", ", beta=0.5, alpha=2", ", beta=0"):
        values = dict(beta=1, alpha=1)
        values.update({k: float(v) for k, v in (o.split("=") for o in options.split(", ")[1:])})
        case(f"addmm(bias, plain, transpose(weight){options})", "bias plain weight",
             lambda x, a, b, values=values: torch.addmm(x, a, b.T, **values))
    case("addmm(nans, plain, transpose(weight), beta=0)", "nans plain weight",
         lambda x, a, b: torch.addmm(x, a, b.T, beta=0))
    equations = {
        "a b": ("bij,bjk->bik", "bij,bjk", "bij,bjk->kbi", "bij,bjk->ik", "bij,bjk->",
                "bij, cjk -> bcik", "bij,bkl->bijkl", "bij,bkl->ijkl", "bij,bkl->il",
                "bij,bjk->j", "bij,bjk->bj", "bij,bjk->jb"),
        "a a": ("bij,bij->b", "bij,bij", "bij,cij->bc", "bij,cij->ijbc", "bij,bik->bjk",
                "bij,bkj->bik", "bij,bij->jib", "bij,kij->", "aBC,aBC->CB"),
        "a b1": ("bij,ckj->bik", "bij,bkj->bik", "bij,bkj->bj", "bij,bkj->k"),
        "plain classes_f": ("ij,i->ij", "ij,i->j", "ij,i", "ij,i->i"),
        "plain gamma": ("ij,j->i", "ij,j->ji", "ij,k->ikj"),
        "mix4a mix4b": ("bqhd,bkhd->bhqk", "bqhd,bkhd->bqkh", "bhqd,bqkd->bhk"),
    }
    for inputs, rows in equations.items():
        first, second = inputs.split()
        arguments = first if first == second else inputs
        for equation in rows:
            case(f'einsum("{equation}", {first}, {second})', arguments,
                 lambda *x, e=equation: torch.einsum(e, x[0], x[-1]))
    for equation in ("ijk->kji", "ijk->", "ijk->j", "ijk", "kij", "ijk->ki"):
        case(f'einsum("{equation}", cube)', "cube", lambda x, e=equation: torch.einsum(e, x))
    case('einsum("i,j->ij", ints, ints2)', "ints ints2",
         lambda a, b: a[:, None] * b[None, :])
    case('einsum("i,i->", ints, ints2)', "ints ints2",
         lambda a, b: (a * b).sum(dtype=torch.int32))
    case('einsum("ij,jk->ik", reshape(ints, [2, 5]), reshape(ints2, [5, 2]))', "ints ints2",
         lambda a, b: a.reshape(2, 5) @ b.reshape(5, 2))


def add_attention(case):
    attention = F.scaled_dot_product_attention
    for mask in ("seen", "seen1", "added", "added_row"):
        case(f"scaled_dot_product_attention(q, k, v, {mask})", f"q k v {mask}", attention)
    case("scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=0.3)", "q k v seen",
         lambda q, k, v, m: attention(q, k, v, m, scale=0.3))
    case("scaled_dot_product_attention(heads, k, v, enable_gqa=true)", "heads k v",
         lambda q, k, v: attention(q, k, v, enable_gqa=True))
    case("scaled_dot_product_attention(heads, k, k, seen, enable_gqa=true, scale=0.3)",
         "heads k seen", lambda q, k, m: attention(q, k, k, m, scale=0.3, enable_gqa=True))
    for inputs in ("q k v", "k q q"):
        case(f"scaled_dot_product_attention({inputs.replace(' ', ', ')}, none, 0, true)",
             "k q" if inputs == "k q q" else inputs,
             lambda q, k, *v: attention(q, k, v[0] if v else k, is_causal=True))


def add_losses(case):
    for name, op in dict(cross_entropy=F.cross_entropy, nll_loss=F.nll_loss).items():
        scores = "plain" if name == "cross_entropy" else "log_p"
        for reduction in ("mean", "sum", "none"):
            text = f'reduction="{reduction}"'
            case(f"{name}({scores}, ignoring, {text})", f"{scores} ignoring",
                 lambda x, t, op=op, r=reduction: op(x, t, reduction=r))
            case(f"{name}({scores}, ignoring, gamma, {text})", f"{scores} ignoring gamma",
                 lambda x, t, w, op=op, r=reduction: op(x, t, w, reduction=r))
            case(f"{name}({scores}, classes, weight=gamma, ignore_index=3, {text})",
                 f"{scores} classes gamma",
                 lambda x, t, w, op=op, r=reduction: op(x, t, w, ignore_index=3, reduction=r))
        case(f"{name}(hard, hard_classes)", "hard hard_classes", op)
        case(f"{name}(cube, dense)", "cube dense", op)
        case(f'{name}(cube, dense, gamma8, reduction="none")', "cube dense gamma8",
             lambda x, t, w, op=op: op(x, t, w, reduction="none"))
        case(f"{name}({scores}, 0 * classes - 100)", f"{scores} classes",
             lambda x, t, op=op: op(x, 0 * t - 100))
        case(f"{name}(gamma8, reshape(slice(dense, [1, 0], [2, 1]), []))", "gamma8 dense",
             lambda x, t, op=op: op(x, t[1, 0]))
    for reduction in ("mean", "sum", "none"):
        text = f'label_smoothing=0.1, reduction="{reduction}"'
        options = dict(label_smoothing=0.1, reduction=reduction)
        case(f"cross_entropy(plain, ignoring, {text})", "plain ignoring",
             lambda x, t, o=options: F.cross_entropy(x, t, **o))
        case(f"cross_entropy(cube, dense, gamma8, {text})", "cube dense gamma8",
             lambda x, t, w, o=options: F.cross_entropy(x, t, w, **o))
        case(f"cross_entropy(plain, target, {text})", "plain target",
             lambda x, t, o=options: F.cross_entropy(x, t, **o))
        case(f'cross_entropy(plain, target, gamma, reduction="{reduction}")', "plain target gamma",
             lambda x, t, w, r=reduction: F.cross_entropy(x, t, w, reduction=r))
        case(f'binary_cross_entropy(target, shares, gamma, reduction="{reduction}")',
             "target shares gamma",
             lambda x, t, w, r=reduction: F.binary_cross_entropy(
                 x, t, w.expand_as(x), reduction=r))
        case("binary_cross_entropy_with_logits(plain, shares, "
             f'pos_weight=gamma, reduction="{reduction}")', "plain shares gamma",
             lambda x, t, w, r=reduction: F.binary_cross_entropy_with_logits(
                 x, t, pos_weight=w, reduction=r))
    case("binary_cross_entropy(target, shares)", "target shares", F.binary_cross_entropy)
    case('binary_cross_entropy_with_logits(special, 0.25 + 0 * is_zero, reduction="none")',
         "special is_zero",
         lambda x, z: F.binary_cross_entropy_with_logits(x, 0.25 + 0 * z, reduction="none"))
    case("binary_cross_entropy_with_logits(plain, shares, gamma)", "plain shares gamma",
         lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, w))


def add(T, case, unary):
    """Adds the cases and the tensors that they need to T."""
    T["edge"] = torch.tensor([88.0, 89.0, -89.0, 89.4, -89.4, 89.5, -89.5, 1e-4, -1e-4, 0.999, 1.0,
                              -1.0, 1.001, 0.25, 1e-20, -0.0])
    T["nans"] = torch.full((6, 10), NAN)
    T["weight32"] = torch.randn(32, 5)
    T["classes_f"] = torch.randn(6)
    T["mix4a"], T["mix4b"] = torch.randn(2, 3, 3, 4), torch.randn(2, 3, 3, 4)
    T["ignoring"] = torch.where(torch.arange(6) % 3 == 1, -100, T["classes"])
    T["hard_classes"] = torch.randint(0, 24, (14,))
    T["dense"] = torch.randint(0, 8, (3, 5))
    T["shares"] = torch.rand(6, 32)
    T["is_zero"] = (T["special"] == 0).float()
    T["wholes"] = torch.tensor([1.0, -1.0, 6.0, -0.3, 0.0, -0.0, 7.0, 0.3, -9.0, 4.0])
    T["tenths"] = torch.tensor([0.1, 0.1, -0.1, 0.1, 0.1, 3.0, INF, -INF, 0.3, 0.1])
    seen = torch.arange(35).reshape(5, 7) % 3 != 1
    seen[2] = False
    T["seen"], T["seen1"] = seen, torch.stack([seen, seen.flip(1)])
    T["added"] = torch.where(seen, torch.arange(7) / 4 - 1, -INF)
    T["added_row"] = torch.tensor([[0.5, -1.0, -INF, 0.0, 2.0, -0.25, 0.125]])
    T["heads"] = torch.randn(4, 5, 8)
    add_elementwise(case, unary)
    add_reductions(case)
    add_movement(case)
    add_numbers(case)
    add_products(case)
    add_attention(case)
    add_losses(case)
    add_shrinks(case, unary)
    add_arrangements(case)
