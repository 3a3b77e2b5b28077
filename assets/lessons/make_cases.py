#!/usr/bin/env python3
"""Writes the tensor cases of the lessons whose scores are given: plain numbers, so that every weight can be
worked out by hand. Needs nothing but Python.

  softmax-tiles.safetensors       lesson 9: one query, keys with scores 1 3 | 2 5 | 0 4, values 1 .. 6
  softmax-tiles-moved.safetensors the same keys, their blocks in another order; so largest-first
  softmax-tiles-beside.safetensors the same beside a second sequence of 18 keys, so that A can be padded
"""
import json
import pathlib
import struct

HEAD_DIM = 8


def write(name, tensors, metadata):
    """tensors: name -> (dtype, shape, flat list)."""
    header, data = {"__metadata__": metadata}, b""
    for key, (dtype, shape, values) in tensors.items():
        raw = struct.pack("<%d%s" % (len(values), {"F32": "f", "I32": "i"}[dtype]), *values)
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = pathlib.Path(__file__).with_name(name)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def vector(first):
    """A vector of HEAD_DIM numbers: `first`, then zeros."""
    return [float(first)] + [0.0] * (HEAD_DIM - 1)


def softmax_tiles(name, tables, beside=()):
    """beside: scores of a second sequence."""
    scores, block_size = [1, 3, 2, 5, 0, 4] + list(beside), 2
    lengths = [6] + ([len(beside)] if beside else [])
    shape = [len(scores) // block_size, block_size, 1, HEAD_DIM]
    write(name, {
        "q": ("F32", [len(lengths), 1, HEAD_DIM], [x for _ in lengths for x in vector(1)]),
        "k_cache": ("F32", shape, [x for s in scores for x in vector(s)]),
        "v_cache": ("F32", shape, [x for j in range(len(scores)) for x in vector(j + 1)]),
        "block_tables": ("I32", [len(lengths), len(tables[0])], [block for table in tables for block in table]),
        "context_lens": ("I32", [len(lengths)], lengths),
    }, {"scale": "1"})


softmax_tiles("softmax-tiles.safetensors", [[0, 1, 2]])
softmax_tiles("softmax-tiles-moved.safetensors", [[2, 0, 1]])
softmax_tiles("softmax-tiles-largest-first.safetensors", [[1, 2, 0]])
softmax_tiles("softmax-tiles-beside.safetensors", [[0, 1, 2] + [-1] * 6, list(range(3, 12))], beside=[1] * 18)
