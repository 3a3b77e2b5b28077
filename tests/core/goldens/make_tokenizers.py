#!/usr/bin/env python3
"""Writes tokenizers.json: small byte-level BPE tokenizers and the ids the `tokenizers` library gives random text.

    python3 make_tokenizers.py TEXT > tokenizers.json

TEXT is any English text of at least 100 kB (tiny Shakespeare was used). Needs `tokenizers` (0.23.3 was used); seed 0.
"""
import json
import random
import sys
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, processors, trainers
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def bytes_only():
    return ByteLevel(add_prefix_space=False, use_regex=False)


PRE_TOKENIZERS = {
    "gpt2": ByteLevel(add_prefix_space=False),
    "prefix space": ByteLevel(add_prefix_space=True),
    "llama3": Sequence([Split(Regex(LLAMA3), "isolated"), bytes_only()]),
    "digits": Sequence([Digits(individual_digits=True), Split(Regex(r"\s+"), "merged_with_next"),
                        ByteLevel(add_prefix_space=True, use_regex=False)]),
    "previous": Sequence([Split("e", "merged_with_previous"), Split(Regex("[a-c]"), "contiguous"), Digits(),
                          ByteLevel(add_prefix_space=False)]),
    "inverted": Sequence([Split(Regex(r"\p{L}+|\s+|[^\s\p{L}]"), "removed", invert=True), Split(" ", "removed"),
                          bytes_only()]),
}

ALPHABET = list("abcdefghiklmnoprstuvw   '''\n\n\t\r0123456789.,;!?-_<>|") + [
    "'s", "'LL", "'ve", "  ", "\n\n", " \n", "é", "ß", "ö", "ſ", "日", "本", "𝒜", "🙂", "\u0301", "\u00a0", "\u2003",
    "\u200b", "²", "Ⅷ", "١", "\u0085", "\u2028", "<|endoftext|>", "<|end", "[TOOL]", " [TOOL] ", "word", "Word", "\x1c",
    "\x0b", "ÿ", "Ġ"]


def make(name, pre_tokenizer, text, rng):
    tokenizer = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    tokenizer.pre_tokenizer = pre_tokenizer
    # "previous" knows only the bytes it has seen: the others must vanish as in the library.
    alphabet = [] if name == "previous" else ByteLevel.alphabet()
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=420, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_tokens([AddedToken("[TOOL]", lstrip=True, rstrip=name != "gpt2", normalized=name == "digits"),
                          AddedToken("word", single_word=True), AddedToken("<|end", normalized=False)])
    template = processors.TemplateProcessing(single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)])
    tokenizer.post_processor = (processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
                                if name == "llama3" else template)
    if name == "digits":
        tokenizer.normalizer = normalizers.NFC()

    cases = []
    for i in range(120):
        if i % 4 == 0:
            start = rng.randrange(len(text) - 200)
            case = text[start:start + rng.randrange(10, 90)]
        else:
            case = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(40)))
        case = unicodedata.normalize("NFC", case)
        cases.append([case, tokenizer.encode(case).ids])
    return {"name": name, "tokenizer": json.loads(tokenizer.to_str()), "cases": cases}


def main():
    rng = random.Random(0)
    text = open(sys.argv[1], encoding="utf-8").read()[:100_000]
    goldens = [make(name, pre_tokenizer, text, rng) for name, pre_tokenizer in PRE_TOKENIZERS.items()]
    print("[" + ",\n".join(json.dumps(golden, separators=(",", ":")) for golden in goldens) + "]")


if __name__ == "__main__":
    main()
