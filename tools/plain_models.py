# SPDX-License-Identifier: Apache-2.0
"""Models written with nothing but PyTorch, as a user would. No library of models has them."""
from __future__ import annotations

import torch
from torch import nn

F = nn.functional


class SelectiveScan(nn.Module):
    """A block as in Mamba-2, its scan written with sums over pairs of steps."""

    def __init__(self, width: int, heads: int, states: int = 16):
        super().__init__()
        self.heads, self.states, self.head = heads, states, width // heads
        self.norm = nn.RMSNorm(width)
        self.take = nn.Linear(width, 2 * width + 2 * states + heads)
        self.rate = nn.Parameter(torch.log(torch.arange(1, heads + 1, dtype=torch.float32)))
        self.bias = nn.Parameter(torch.full((heads,), -2.0))
        self.skip = nn.Parameter(torch.ones(heads))
        self.give = nn.Linear(width, width)

    def forward(self, x):
        b, t, width = x.shape
        gate, value, key, query, step = self.take(self.norm(x)).split(
            [width, width, self.states, self.states, self.heads], -1)
        step = F.softplus(step + self.bias)                       # [b, t, heads]
        decay = torch.cumsum(-torch.exp(self.rate) * step, 1)
        pairs = decay[:, :, None] - decay[:, None]                # [b, t, s, heads]
        before = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        kept = torch.exp(pairs.masked_fill(~before[None, :, :, None], float("-inf")))
        scores = torch.einsum("btn,bsn->bts", query, key)[..., None] * kept
        v = value.view(b, t, self.heads, self.head)
        y = torch.einsum("btsh,bsh,bshd->bthd", scores, step, v) + self.skip[:, None] * v
        return x + self.give(y.reshape(b, t, width) * F.silu(gate))


class HandLstm(nn.Module):
    """An LSTM as a loop over steps."""

    def __init__(self, width: int):
        super().__init__()
        self.x, self.h = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)

    def forward(self, x):
        h = c = torch.zeros_like(x[:, 0])
        results = []
        for step in range(x.shape[1]):
            i, f, g, o = (self.x(x[:, step]) + self.h(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            results.append(h)
        return torch.stack(results, 1), c


class Cells(nn.Module):
    """nn.LSTMCell and nn.GRUCell, some steps of each."""

    def __init__(self, width: int):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(width, width), nn.GRUCell(width, width)

    def forward(self, x):
        h = c = k = torch.zeros_like(x[:, 0])
        for step in range(min(4, x.shape[1])):
            h, c = self.lstm(x[:, step], (h, c))
            k = self.gru(h, k)
        return h, c, k


class Attention(nn.Module):
    """Causal attention with rotary embeddings, and a gated MLP, by hand."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)
        half = width // heads // 2
        self.register_buffer("rates", 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half))

    def _turned(self, x, angles):
        left, right = x.chunk(2, -1)
        sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
        return torch.cat([left * cosine - right * sine, left * sine + right * cosine], -1)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (third.view(b, t, self.heads, -1).transpose(1, 2)
                   for third in self.qkv(self.first(x)).chunk(3, -1))
        angles = torch.arange(t, device=x.device, dtype=torch.float32)[:, None] * self.rates.float()
        q, k = self._turned(q, angles), self._turned(k, angles)
        scores = (q @ k.transpose(-1, -2)) * (q.shape[-1] ** -0.5)
        later = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        weights = torch.softmax(scores.masked_fill(later, float("-inf")), -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, width))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def _steps(size) -> torch.Tensor:
    return torch.randn(size.batch, size.tokens, size.width)


def _mlp(size):
    layers = [layer for _ in range(size.layers) for layer in (
        nn.Linear(size.width, size.width), nn.LayerNorm(size.width), nn.GELU())]
    return nn.Sequential(*layers), (torch.randn(size.batch * size.tokens, size.width),)


def _trained(size):
    module = nn.Sequential(nn.Linear(size.width, size.width), nn.BatchNorm1d(size.width), nn.ReLU(),
                           nn.Linear(size.width, size.width))
    return module.train(), (torch.randn(size.batch * size.tokens, size.width),)


def _encoder(size):
    return (nn.TransformerEncoder(nn.TransformerEncoderLayer(
        size.width, size.heads, 4 * size.width, batch_first=True), size.layers,
        enable_nested_tensor=False), (_steps(size),))


#: By name: build(size) -> (module, inputs).
BUILDERS = {
    "mlp": _mlp,
    "batch_statistics": _trained,
    "transformer_encoder": _encoder,
    "attention": lambda size: (nn.Sequential(*(Attention(size.width, size.heads)
                                               for _ in range(size.layers))), (_steps(size),)),
    "selective_scan": lambda size: (nn.Sequential(*(SelectiveScan(size.width, size.heads)
                                                    for _ in range(size.layers))),
                                    (_steps(size),)),
    "hand_lstm": lambda size: (HandLstm(size.width), (_steps(size)[:, :16],)),
    "cells": lambda size: (Cells(size.width), (_steps(size),)),
}
