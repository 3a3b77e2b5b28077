#!/usr/bin/env python3
"""Writes what the transformers library computes for a model directory, for the engine's tests to compare with.

    python3 make_logit_goldens.py --model shakespeare-1m --out goldens/shakespeare-1m.json

Needs torch, transformers, numpy. Everything runs in float32 on the CPU with eager attention.
  prompts    token ids, logits at several positions (top 20 and a few fixed ids), the greedy continuation with
             the lead of each winner over the runner-up (a test may stop comparing where the lead is tiny);
             the first prompt also has all logits of its last position
  heads      per (layer, head) attention scores on one fixed sequence of random tokens said twice
  tokenizer  ids of awkward strings, and the text of awkward ids
"""
import argparse
import hashlib
import json
import pathlib

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

GREEDY = 24
TOP = 20
FIXED_IDS = [0, 1, 17, 255, 256, 511, 768, 1023]

PASSAGE = """First Citizen:
Before we proceed any further, hear me speak.

All:
Speak, speak.

First Citizen:
You are all resolved rather to die than to famish?

All:
Resolved. resolved.

First Citizen:
First, you know Caius Marcius is chief enemy to the people.

All:
We know't, we know't.

First Citizen:
Let us kill him, and we'll have corn at our own price.
Is't a verdict?
"""

# name -> prompt; the first one gets its complete last row of logits
PROMPTS = {
    "short": "ROMEO:\nWhat light",
    "only-bos": "",
    "hundred": PASSAGE[:227],
    "long": PASSAGE + "\n" + PASSAGE,
    "non-ascii": "  Ünïcode\tand\n\n\nemoji 🎭, the Globe — «théâtre» 劇場\r\n",
}

TEXTS = [
    "", " ", "  ", "   ", "\n", "\n\n", "\n\n\n", "\t", "\t\t x", "\r\n", " \n ", "\n \n", "x \n y", "trailing   ", "   leading",
    "a  b   c    d", "0", "3.14159", "1234567890", "the year 1597, Act 3", "x1y22z333",
    "I'll we've they're it's don't he'd I'm", "I'LL WE'VE IT'S", "'tis 'twas o'er", "'s's 't", "’tis I’ll",
    "ROMEO:", "ROMEO:\nBut soft", "First Citizen:\nSpeak, speak.\n\nAll:\nNo.\n", "!!!???...", "--", "a--b -- c", "[{(<#@$%^&*_+=~`|\\/>)}]", "\"'\"'",
    "Ünïcode", "naïve café", "cafe\u0301", "Straße", "ΑΒΓ αβγ", "Привет, мир", "שלום", "مرحبا ١٢٣", "नमस्ते", "สวัสดี", "한국어", "日本語テキスト", "劇場 に 行く",
    "Ⅷ ² ½ ④", "🎭", "🎭🎭 🎭", "👩‍👩‍👧‍👦", "🇬🇧", "e\u200bx", "a\u00a0b", "a\u00a0\u00a0b", "a\u3000b", "a\u2028b\u2029c", "a\u0085b", "a\u180eb", "\ufeffx",
    "\u0000", "a\u0000b", "\u0001\u0002\u001b\u007f", "a\u000bb\u000cc", "a\u001cb\u001fc", "\ufffd", "\U0010ffff", "\ue000",
    "<|endoftext|>", "a<|endoftext|>b", "<|endoftext|><|endoftext|>", "a <|endoftext|> b", "<|endoftext", "<|ENDOFTEXT|>",
    "a" * 300, " " * 200, "\n" * 100, "ab" * 100, "!" * 120, "7" * 90, "Ġ", "Ċ", "ĠtheĊ",
]

IDS = [[], [0], [0, 0, 40], [200], [200, 201], [40, 210, 41], [1023], [255, 256, 257], [172, 0, 235, 108]]


def short(x):
    return float(f"{float(x):.7g}")


def pairs(ids, row):
    return [[int(i), short(row[i])] for i in ids]


@torch.no_grad()
def prompt_golden(name, text, tok, model, complete):
    ids = tok(text)["input_ids"]
    logits = model(torch.tensor([ids])).logits[0]
    last = len(ids) - 1
    rows = []
    for pos in sorted({0, last // 3, 2 * last // 3, last}):
        row = logits[pos]
        top = row.topk(TOP).indices.tolist()
        rows.append({"position": pos, "top": pairs(top, row), "fixed": pairs(FIXED_IDS, row), "logsumexp": short(row.logsumexp(-1))})
    golden = {"name": name, "text": text, "token_ids": ids, "logits": rows}
    if complete:
        golden["last_logits"] = [short(x) for x in logits[-1]]
    greedy, leads, run = [], [], list(ids)
    for _ in range(GREEDY):  # past <|endoftext|> too, as with ignore_eos
        best = model(torch.tensor([run])).logits[0, -1].topk(2)
        run.append(int(best.indices[0]))
        greedy.append(run[-1])
        leads.append(round(float(best.values[0] - best.values[1]), 5))
    return golden | {"greedy": greedy, "greedy_lead": leads}


@torch.no_grad()
def head_golden(model, half=48):
    """previous and sink over the whole sequence, induction and duplicate over its second half."""
    chunk = np.random.default_rng(7).integers(257, model.config.vocab_size, half).tolist()
    ids = [0] + chunk + chunk
    weights = torch.stack(model(torch.tensor([ids]), output_attentions=True).attentions)[:, 0]  # (layer, head, query, key)
    query = torch.arange(len(ids))
    second = query[half + 1:]

    def mean(at, back):
        return [[round(float(x), 5) for x in layer] for layer in weights[:, :, at, at - back].mean(-1)]

    return {"token_ids": ids, "previous": mean(query[2:], 1), "induction": mean(second, half - 1),
            "duplicate": mean(second, half), "sink": mean(query[2:], query[2:])}


def tokenizer_golden(tok):
    encode = [{"text": t, "token_ids": tok(t)["input_ids"]} for t in TEXTS]
    for case in encode:  # the two ways into the library must agree
        assert case["token_ids"] == tok.backend_tokenizer.encode(case["text"]).ids, case["text"]
    decode = [{"token_ids": i, "text": tok.decode(i, skip_special_tokens=True)} for i in IDS]
    return {"encode": encode, "decode": decode}


def lines(golden):
    """JSON with one case a line: small, and a change shows in a diff."""
    dump = lambda x: json.dumps(x, ensure_ascii=True, separators=(",", ":"))  # noqa: E731
    parts = [f"{dump(k)}:{dump(golden[k])}" for k in ("made_with", "model_sha256", "heads")]
    parts.append('"prompts":[\n' + ",\n".join(map(dump, golden["prompts"])) + "]")
    for kind in ("encode", "decode"):
        parts.append(f'"{kind}":[\n' + ",\n".join(map(dump, golden["tokenizer"][kind])) + "]")
    return "{" + ",\n".join(parts) + "}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    tok = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model, attn_implementation="eager").float().eval()
    golden = {
        "made_with": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
                      "dtype": "float32", "attention": "eager"},
        "model_sha256": hashlib.sha256((args.model / "model.safetensors").read_bytes()).hexdigest(),
        "prompts": [prompt_golden(n, t, tok, model, i == 0) for i, (n, t) in enumerate(PROMPTS.items())],
        "heads": head_golden(model),
        "tokenizer": tokenizer_golden(tok),
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(lines(golden), encoding="utf-8")
    print(f"{args.out}: {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
