# SPDX-License-Identifier: Apache-2.0
"""Real models with random weights, small enough for a test. tools/verify_models.py runs them.

Each entry builds a module and its inputs from a Size. Nothing is downloaded. An entry whose library
is missing raises ImportError when it is built.
"""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

import torch
from torch import nn

import plain_models


class Size(NamedTuple):
    """How large a model is, whatever its kind."""
    width: int
    heads: int
    layers: int
    tokens: int
    image: int
    batch: int


#: On a card, and on the reference interpreter.
LARGE = Size(width=256, heads=4, layers=3, tokens=128, image=64, batch=4)
SMALL = Size(width=32, heads=2, layers=1, tokens=12, image=32, batch=1)

WORDS = 503  # of a vocabulary


class Entry(NamedTuple):
    """A model: its library, and build(size) -> (module, inputs by name or in order)."""
    library: str
    build: Callable[[Size], tuple[nn.Module, Any]]
    keeps_statistics: bool = False  # its batch norms stay fresh


MODELS: dict[str, Entry] = {}


def build(name: str, size: Size) -> tuple[nn.Module, Any]:
    """A model and its inputs. Matrices that start as zeros, as heads of timm do, become random:
    the model's results would be zeros too, and zeros are exact in any kernel. Statistics of batch
    norms become random too, but for models that keep them: a fresh batch norm is nearly the
    identity and would hide faults."""
    module, inputs = MODELS[name].build(size)
    for parameter in module.parameters():
        if parameter.dim() > 1 and not parameter.any():
            nn.init.normal_(parameter, std=0.02)
    for norm in () if MODELS[name].keeps_statistics else module.modules():
        if isinstance(norm, nn.modules.batchnorm._BatchNorm):
            _draw_statistics(norm)
    return module, inputs


def _draw_statistics(norm: nn.modules.batchnorm._BatchNorm) -> None:
    """Gives a batch norm statistics and parameters as after some training."""
    for scale in (norm.running_var, norm.weight):
        if scale is not None:
            nn.init.uniform_(scale, 0.5, 1.5)
    for shift in (norm.running_mean, norm.bias):
        if shift is not None:
            nn.init.normal_(shift, std=0.1)


# --- transformers --------------------------------------------------------------------------------


def _words(size: Size) -> torch.Tensor:
    return torch.randint(1, WORDS, (size.batch, size.tokens))


def _text_model(kind: str, head: str, names: Callable[[Size], dict], **more):
    """A language model of transformers: its config by the arguments that `names` gives."""
    def build(size: Size):
        import transformers
        config = getattr(transformers, f"{kind}Config")(**{
            "vocab_size": WORDS, "use_cache": False, "pad_token_id": 0, **names(size), **more})
        module = getattr(transformers, f"{kind}{head}")(config)
        inputs = {"input_ids": _words(size)}
        if config.is_encoder_decoder:
            inputs["decoder_input_ids"] = _words(size)
        return module, inputs
    return build


def _usual(size: Size) -> dict:
    """The names of most configs."""
    return {"hidden_size": size.width, "intermediate_size": 4 * size.width,
            "num_hidden_layers": size.layers, "num_attention_heads": size.heads,
            "max_position_embeddings": max(512, size.tokens)}


def _grouped(size: Size) -> dict:
    return {**_usual(size), "num_key_value_heads": max(1, size.heads // 2)}


def _gemma(size: Size) -> dict:
    return {**_grouped(size), "head_dim": size.width // size.heads}


def _gpt2(size: Size) -> dict:
    return {"n_embd": size.width, "n_layer": size.layers, "n_head": size.heads}


def _opt(size: Size) -> dict:
    return {"hidden_size": size.width, "ffn_dim": 4 * size.width, "word_embed_proj_dim": size.width,
            "num_hidden_layers": size.layers, "num_attention_heads": size.heads}


def _distilbert(size: Size) -> dict:
    return {"dim": size.width, "hidden_dim": 4 * size.width, "n_layers": size.layers,
            "n_heads": size.heads}


def _electra(size: Size) -> dict:
    return {**_usual(size), "embedding_size": size.width}


def _albert(size: Size) -> dict:
    return {**_usual(size), "embedding_size": size.width // 2}


def _t5(size: Size) -> dict:
    return {"d_model": size.width, "d_ff": 4 * size.width, "d_kv": size.width // size.heads,
            "num_layers": size.layers, "num_heads": size.heads}


def _bart(size: Size) -> dict:
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in (
        ("layers", size.layers), ("attention_heads", size.heads), ("ffn_dim", 4 * size.width))}
    return {"d_model": size.width, **sides}


#: By name: kind, head, names of the config.
_TEXT_MODELS = {
    "gpt2": ("GPT2", "LMHeadModel", _gpt2),
    "bert": ("Bert", "Model", _usual),
    "roberta": ("Roberta", "Model", _usual),
    "distilbert": ("DistilBert", "Model", _distilbert),
    "electra": ("Electra", "Model", _electra),
    "albert": ("Albert", "Model", _albert),
    "llama": ("Llama", "ForCausalLM", _grouped),
    "qwen2": ("Qwen2", "ForCausalLM", _grouped),
    "qwen3": ("Qwen3", "ForCausalLM", _gemma),
    "mistral": ("Mistral", "ForCausalLM", _grouped),
    "gemma": ("Gemma", "ForCausalLM", _gemma),
    "gemma2": ("Gemma2", "ForCausalLM", _gemma),
    "phi": ("Phi", "ForCausalLM", _usual),
    "opt": ("OPT", "ForCausalLM", _opt),
    "gpt_neox": ("GPTNeoX", "ForCausalLM", _usual),
    "t5": ("T5", "ForConditionalGeneration", _t5),
    "bart": ("Bart", "Model", _bart),
}
for _name, _row in _TEXT_MODELS.items():
    MODELS[_name] = Entry("transformers", _text_model(*_row))

# Attention as products and a softmax, in place of the fused operator.
for _name in ("gpt2", "llama", "bert"):
    MODELS[f"{_name}_eager_attention"] = Entry(
        "transformers", _text_model(*_TEXT_MODELS[_name], attn_implementation="eager"))


def _image_model(kind: str, names: Callable[[Size], dict]):
    def build(size: Size):
        import transformers
        config = getattr(transformers, f"{kind}Config")(**names(size))
        module = getattr(transformers, f"{kind}Model")(config)
        return module, {"pixel_values": torch.randn(size.batch, 3, size.image, size.image)}
    return build


def _vit(size: Size) -> dict:
    return {"hidden_size": size.width, "intermediate_size": 4 * size.width,
            "num_hidden_layers": size.layers, "num_attention_heads": size.heads,
            "image_size": size.image, "patch_size": 8}


def _swin(size: Size) -> dict:
    return {"image_size": size.image, "patch_size": 2, "embed_dim": size.width // 4,
            "depths": [2, 2], "num_heads": [size.heads // 2, size.heads], "window_size": 4}


def _convnext(size: Size) -> dict:
    return {"hidden_sizes": [size.width // 4, size.width // 2], "depths": [1, 2], "num_stages": 2,
            "image_size": size.image}


for _name, _kind, _names in (("vit", "ViT", _vit), ("deit", "DeiT", _vit), ("swin", "Swin", _swin),
                             ("convnext", "ConvNext", _convnext)):
    MODELS[_name] = Entry("transformers", _image_model(_kind, _names))


# --- timm and torchvision ------------------------------------------------------------------------


def _of_timm(name: str, **named):
    """A model of timm, of the classes that it is registered with but smaller."""
    def build(size: Size):
        import timm
        settings = {key: value(size) if callable(value) else value for key, value in named.items()}
        return (timm.create_model(name, pretrained=False, num_classes=17, **settings),
                (torch.randn(size.batch, 3, size.image, size.image),))
    return build


def _width(size: Size) -> int:
    return size.width


def _layers(size: Size) -> int:
    return size.layers


def _image(size: Size) -> int:
    return size.image


_flat = {"img_size": _image, "patch_size": 8, "embed_dim": _width}
_deep = {**_flat, "depth": _layers, "num_heads": lambda size: size.heads}
for _name, _registered, _named in (
        ("timm_vit", "vit_tiny_patch16_224", _deep),
        ("timm_deit", "deit_tiny_patch16_224", _deep),
        ("timm_beit", "beit_base_patch16_224", _deep),
        ("timm_swin", "swin_tiny_patch4_window7_224",
         {"img_size": _image, "patch_size": 2, "window_size": 4, "depths": (2, 2),
          "embed_dim": lambda size: size.width // 4,
          "num_heads": lambda size: (size.heads // 2, size.heads)}),
        ("timm_convnext", "convnext_atto",
         {"depths": (1, 1, 2, 1),
          "dims": lambda size: tuple(size.width // n for n in (8, 4, 2, 1))}),
        ("timm_poolformer", "poolformer_s12", {}),
        ("timm_resnet", "resnet18", {})):
    MODELS[_name] = Entry("timm", _of_timm(_registered, **_named))


def _mixer(ratio: Any, **blocks: str):
    """timm's MlpMixer of other blocks, named as timm names the classes."""
    def build(size: Size):
        from timm.models import mlp_mixer
        module = mlp_mixer.MlpMixer(
            num_classes=17, img_size=size.image, patch_size=8, num_blocks=size.layers,
            embed_dim=size.width, mlp_ratio=ratio,
            **{keyword: getattr(mlp_mixer, name) for keyword, name in blocks.items()})
        return module, (torch.randn(size.batch, 3, size.image, size.image),)
    return build


for _name, _blocks in (
        ("timm_mixer", {"ratio": (0.5, 4.0)}),
        ("timm_gmlp", {"ratio": 6, "block_layer": "SpatialGatingBlock", "mlp_layer": "GatedMlp"}),
        ("timm_resmlp", {"ratio": 4, "block_layer": "ResBlock", "norm_layer": "Affine"})):
    MODELS[_name] = Entry("timm", _mixer(**_blocks))


def _of_torchvision(name: str):
    def build(size: Size):
        import torchvision
        side = max(size.image, 32)
        return (getattr(torchvision.models, name)(weights=None, num_classes=17),
                (torch.randn(size.batch, 3, side, side),))
    return build


for _name in ("resnet18", "mobilenet_v3_small", "efficientnet_b0", "squeezenet1_1",
              "regnet_y_400mf", "shufflenet_v2_x0_5"):
    MODELS[f"torchvision_{_name}"] = Entry("torchvision", _of_torchvision(_name))


MODELS["torchvision_resnet18_fresh"] = Entry("torchvision", _of_torchvision("resnet18"), True)


# --- modules written plainly ---------------------------------------------------------------------

for _name, _build in plain_models.BUILDERS.items():
    MODELS[f"plain_{_name}"] = Entry("plain", _build)
