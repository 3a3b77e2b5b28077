#!/usr/bin/env python3
"""Writes the tensor cases of the lessons whose scores are given: plain numbers, so that every weight can be
worked out by hand. Needs nothing but Python.

  softmax-tiles.safetensors       lesson 9: one query, keys with scores 1 3 | 2 5 | 0 4, values 1 .. 6
  softmax-tiles-moved.safetensors the same keys, their blocks in another order
  softmax-tiles-beside.safetensors the same beside a second sequence of 18 keys, so that A can be padded
  padding-thieves.safetensors     lesson 10: two sequences of 3 and 9 keys; every key has score 0, 2 or -2 in
                                  heads 0, 1 and 2
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


def padding_thieves():
    lengths, block_size, tables = [3, 9], 4, [[0, -1, -1], [3, 1, 2]]
    shape = [4, block_size, 1, HEAD_DIM]
    slots = shape[0] * block_size
    values = [x for slot in range(slots) for x in [1.0 + slot % 3, 1.0] + [0.0] * (HEAD_DIM - 2)]
    write("padding-thieves.safetensors", {
        "q": ("F32", [2, 3, HEAD_DIM], [x for _ in lengths for s in (0, 2, -2) for x in vector(s)]),
        "k_cache": ("F32", shape, [x for _ in range(slots) for x in vector(1)]),
        "v_cache": ("F32", shape, values),
        "block_tables": ("I32", [2, 3], [block for table in tables for block in table]),
        "context_lens": ("I32", [2], lengths),
    }, {"scale": "1"})


softmax_tiles("softmax-tiles.safetensors", [[0, 1, 2]])
softmax_tiles("softmax-tiles-moved.safetensors", [[2, 0, 1]])
softmax_tiles("softmax-tiles-beside.safetensors", [[0, 1, 2] + [-1] * 6, list(range(3, 12))], beside=[1] * 18)
padding_thieves()
