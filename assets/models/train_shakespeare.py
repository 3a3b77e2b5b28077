#!/usr/bin/env python3
"""Trains the bundled model: a one-million-parameter Llama that writes Shakespeare-like verse.

    python3 train_shakespeare.py --data tinyshakespeare.txt --out shakespeare-1m

Needs torch, numpy, tokenizers, safetensors. A recent GPU takes a few minutes; a CPU works but takes hours.
The result is a Hugging Face directory: config.json, generation_config.json, model.safetensors (F32),
tokenizer.json, tokenizer_config.json.

Five choices make the attention heads worth looking at:
  * every sequence starts with <|endoftext|>, so heads with nothing to say have a place to rest (a sink);
  * head 0 of layer 0 begins its life looking one token back (look_back), so that this is not what all wait for;
  * two heads are told where to look (TAUGHT): one to the token before, one to the token after an earlier copy.
    Left alone, the model finds some other fixed distance just as well, 15 tokens back for instance, and its
    induction heads come out shifted against the textbook by as much;
  * training starts with random tokens that repeat, where the only way to predict is to find the earlier
    copy: this grows induction heads and the previous-token heads they need. A share of such sequences stays
    when the text comes, so the heads stay too;
  * speeches come in groups of three to six that end with <|endoftext|>, so the model can stop by itself; other
    sequences run on to the end, so the sink is learned at all distances.
"""
import argparse
import json
import math
import pathlib
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

EOT = "<|endoftext|>"  # begins every sequence and ends every group of speeches
EOT_ID = 0
IGNORE = -100  # targets that carry no loss

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": EOT_ID,
    "eos_token_id": EOT_ID,
    "head_dim": 16,
    "hidden_act": "silu",
    "hidden_size": 128,
    "initializer_range": 0.05,
    "intermediate_size": 448,
    "max_position_embeddings": 512,
    "mlp_bias": False,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
    "use_cache": True,
    "vocab_size": 1024,
}
HEADS, KV_HEADS, HEAD_DIM = (CONFIG[k] for k in ("num_attention_heads", "num_key_value_heads", "head_dim"))
WINDOW = CONFIG["max_position_embeddings"]
TAUGHT = {"previous": (0, 0), "induction": (1, 4)}  # (layer, head)


# ---------------------------------------------------------------------------- tokenizer

def train_tokenizer(text):
    """Byte-level BPE as in GPT-2; the post-processor puts <|endoftext|> in front of every text."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=CONFIG["vocab_size"], special_tokens=[EOT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tok.post_processor = processors.TemplateProcessing(
        single=f"{EOT} $A", pair=f"{EOT} $A {EOT} $B:1", special_tokens=[(EOT, EOT_ID)])
    assert tok.token_to_id(EOT) == EOT_ID and tok.get_vocab_size() == CONFIG["vocab_size"]
    return tok


def encode_speeches(tok, text):
    """One id list per speech (a blank line parts two speeches); headings without a body are dropped."""
    speeches = [s for s in text.strip().split("\n\n") if ":\n" in s]
    return [e.ids for e in tok.encode_batch(speeches, add_special_tokens=False)]


# ---------------------------------------------------------------------------- data

class Stream:
    """Speeches laid end to end: <|endoftext|>, 3..6 speeches parted by blank lines, <|endoftext|>, ..."""

    def __init__(self, speeches, newline_id, rng, group=(3, 6)):
        ids, starts, i = [], [], int(rng.integers(0, group[1]))  # a random first speech shifts all groups
        while i < len(speeches):
            starts.append(len(ids))
            ids.append(EOT_ID)
            for speech in speeches[i:i + int(rng.integers(group[0], group[1] + 1))]:
                ids += speech + [newline_id, newline_id]
                i += 1
            ids.pop()  # a group ends with one line break, then <|endoftext|>
        self.ids = np.array(ids + [EOT_ID], dtype=np.int64)
        self.starts = np.array([s for s in starts if s + WINDOW < len(self.ids)], dtype=np.int64)

    def windows(self):
        """Windows one after another, each at a group start, for measuring a loss."""
        rows, end = [], 0
        for s in self.starts:
            if s >= end:
                rows.append(self.ids[s:s + WINDOW + 1])
                end = s + WINDOW
        return np.stack(rows)


class Batches:
    """Draws training batches on the device: ordinary text first, then the rows that repeat."""

    def __init__(self, args, speeches, newline_id, device):
        self.args, self.speeches, self.newline_id, self.device = args, speeches, newline_id, device
        self.rng = np.random.default_rng(args.seed)
        self.gen = torch.Generator(device=device).manual_seed(args.seed)
        counts = np.bincount([t for s in speeches for t in s], minlength=CONFIG["vocab_size"])
        by_use = [t for t in np.argsort(-counts, kind="stable").tolist() if t != EOT_ID]
        self.by_use = torch.tensor(by_use, device=device)
        # the same speeches with no <|endoftext|> between them
        flat = [t for s in speeches for t in s + [newline_id, newline_id]]
        starts = np.cumsum([0] + [len(s) + 2 for s in speeches])
        self.plain = torch.tensor(flat, device=device)
        self.plain_starts = torch.from_numpy(starts[starts + WINDOW < len(flat)]).to(device)
        self.regroup()

    def regroup(self):
        # Fresh group borders now and then: otherwise the model learns by heart where texts stop.
        stream = Stream(self.speeches, self.newline_id, self.rng)
        self.ids = torch.from_numpy(stream.ids).to(self.device)
        self.starts = torch.from_numpy(stream.starts).to(self.device)

    def rand(self, low, high, *shape):
        return torch.randint(low, high, shape, generator=self.gen, device=self.device)

    def log_uniform(self, low, high, rows):
        uniform = torch.rand(rows, 1, generator=self.gen, device=self.device)
        return (low * (high / low) ** uniform).long().clamp(max=high - 1)

    def text(self, rows):
        start = self.starts[self.rand(0, len(self.starts), rows)]
        return self.ids[start[:, None] + torch.arange(WINDOW + 1, device=self.device)]

    def long_text(self, rows):
        start = self.plain_starts[self.rand(0, len(self.plain_starts), rows)]
        ids = self.plain[start[:, None] + torch.arange(WINDOW, device=self.device)]
        return F.pad(ids, (1, 0), value=EOT_ID)

    def random_chunks(self, rows):
        # The alphabet differs by row, 32 of the commonest tokens up to all: few tokens are quickly told apart, and what
        # is learned on them carries over to the rest.
        alphabet = self.log_uniform(32, len(self.by_use) + 1, rows)
        uniform = torch.rand(rows, WINDOW + 1, generator=self.gen, device=self.device)
        return self.by_use[(uniform * alphabet).long()]

    def repeats(self, rows, random_tokens):
        """A chunk of 4..255 tokens over and over, after <|endoftext|> and (for text) some ordinary lines."""
        length = self.log_uniform(4, 256, rows)
        text = self.text(rows)
        if random_tokens:
            lead, chunk = torch.ones_like(length), self.random_chunks(rows)
        else:
            lead, start = self.rand(1, 128, rows, 1), self.rand(0, len(self.ids) - WINDOW, rows)
            chunk = self.ids[start[:, None] + torch.arange(WINDOW + 1, device=self.device)]
        pos = torch.arange(WINDOW + 1, device=self.device).expand(rows, -1)
        ids = torch.where(pos < lead, text, chunk.gather(1, (pos - lead).clamp(min=0) % length))
        targets = ids.clone()
        if random_tokens:
            targets[pos < lead + length] = IGNORE  # the first copy cannot be predicted
        return ids, targets

    def next(self, only_random):
        rows = self.args.batch
        if only_random:
            ids, targets = self.repeats(rows, True)
        else:
            random = round(rows * self.args.random_share)
            again = round(rows * self.args.again_share)
            long = round((rows - random - again) * self.args.long_share)
            text = torch.cat([self.text(rows - random - again - long), self.long_text(long)])
            a, a_targets = self.repeats(random, True)
            b, b_targets = self.repeats(again, False)
            ids, targets = torch.cat([text, a, b]), torch.cat([text, a_targets, b_targets])
        return ids[:, :-1], targets[:, 1:]


# ---------------------------------------------------------------------------- model

class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, CONFIG["rms_norm_eps"])


def rotate(x, cos, sin):
    """RoPE in Llama's layout: dimension j turns together with j + head_dim / 2."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        d = CONFIG["hidden_size"]
        self.q_proj = nn.Linear(d, HEADS * HEAD_DIM, bias=False)
        self.k_proj = nn.Linear(d, KV_HEADS * HEAD_DIM, bias=False)
        self.v_proj = nn.Linear(d, KV_HEADS * HEAD_DIM, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD_DIM, d, bias=False)

    def forward(self, x, cos, sin, weights=None):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, HEADS, HEAD_DIM).transpose(1, 2)
        k = self.k_proj(x).view(B, T, KV_HEADS, HEAD_DIM).transpose(1, 2)
        v = self.v_proj(x).view(B, T, KV_HEADS, HEAD_DIM).transpose(1, 2)
        q, k = rotate(q, cos, sin).to(v.dtype), rotate(k, cos, sin).to(v.dtype)
        # query head h reads KV head h // (HEADS / KV_HEADS)
        k, v = (t[:, :, None].expand(-1, -1, HEADS // KV_HEADS, -1, -1).reshape(B, HEADS, T, HEAD_DIM) for t in (k, v))
        if weights is None:
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:  # the same in the open, keeping the attention weights
            scores = (q @ k.transpose(-1, -2)) / math.sqrt(HEAD_DIM)
            mask = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
            p = scores.masked_fill(mask, float("-inf")).softmax(-1)
            weights.append(p)
            o = p @ v
        return self.o_proj(o.transpose(1, 2).reshape(B, T, HEADS * HEAD_DIM))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        d, m = CONFIG["hidden_size"], CONFIG["intermediate_size"]
        self.gate_proj = nn.Linear(d, m, bias=False)
        self.up_proj = nn.Linear(d, m, bias=False)
        self.down_proj = nn.Linear(m, d, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = (RMSNorm(CONFIG["hidden_size"]) for _ in range(2))
        self.self_attn, self.mlp, self.drop = Attention(), MLP(), nn.Dropout(dropout)

    def forward(self, x, cos, sin, weights=None):
        x = x + self.drop(self.self_attn(self.input_layernorm(x), cos, sin, weights))
        return x + self.drop(self.mlp(self.post_attention_layernorm(x)))


class Llama(nn.Module):
    """Parameter names as in Hugging Face, less the leading 'model.'."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.embed_tokens = nn.Embedding(CONFIG["vocab_size"], CONFIG["hidden_size"])
        self.layers = nn.ModuleList(Block(dropout) for _ in range(CONFIG["num_hidden_layers"]))
        self.norm, self.drop = RMSNorm(CONFIG["hidden_size"]), nn.Dropout(dropout)
        inverse = CONFIG["rope_theta"] ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
        angle = torch.arange(WINDOW).float()[:, None] * inverse
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:  # the layers that add to the residual stream start smaller
                small = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(p, std=CONFIG["initializer_range"] / (math.sqrt(8) if small else 1))

    def forward(self, ids, weights=None, open_layers=math.inf):
        T = ids.shape[1]
        x = self.drop(self.embed_tokens(ids))
        for i, layer in enumerate(self.layers):
            x = layer(x, self.cos[:T], self.sin[:T], weights if i < open_layers else None)
        return F.linear(self.norm(x), self.embed_tokens.weight)  # tied head


@torch.no_grad()
def look_back(model):
    """Sets head 0 of layer 0 to attend to the token before; training may change it as it likes.

    All embeddings share one component, so a query and a key can be made that do not depend on the token. RoPE turns
    pair j of both by (position * frequency j): keys of one direction and queries turned back by one frequency meet
    exactly when the key is one position earlier. Five frequencies together leave no second such distance.
    """
    model.embed_tokens.weight[:, 0] += 0.3
    shared = F.rms_norm(model.embed_tokens.weight, (CONFIG["hidden_size"],))[:, 0].mean().item()
    q, k = model.layers[0].self_attn.q_proj.weight, model.layers[0].self_attn.k_proj.weight
    q[:HEAD_DIM] = 0
    for j, logit in enumerate((12.0, 8.0, 5.0, 4.0, 3.0)):  # what each frequency adds at distance one
        frequency = CONFIG["rope_theta"] ** (-2 * j / HEAD_DIM)
        size = math.sqrt(logit * math.sqrt(HEAD_DIM)) / shared
        k[[j, j + HEAD_DIM // 2]] = 0
        k[j, 0] = size
        q[j, 0], q[j + HEAD_DIM // 2, 0] = size * math.cos(frequency), -size * math.sin(frequency)


def taught_loss(weights, ids):
    """Mean -log of the attention that the two taught heads pay to their places; weights: of layers 0, 1, ... as needed."""
    (before_layer, before_head), (after_layer, after_head) = TAUGHT["previous"], TAUGHT["induction"]
    before = weights[before_layer][:, before_head].diagonal(-1, 1, 2)
    # place[b, i, j]: token j - 1 is token i, so j comes after an earlier copy; with no copy, position 0
    place = F.pad(ids[:, None, :-1] == ids[:, :, None], (1, 0)).tril()
    place[:, :, 0] = ~place.any(-1)
    after = (weights[after_layer][:, after_head] * place).sum(-1)
    return -(before.float().clamp(min=1e-6).log().mean() + after.float().clamp(min=1e-6).log().mean())


# ---------------------------------------------------------------------------- training

class Trainer:
    """One optimizer step. On a GPU it is captured once and replayed: launching costs more than the work itself."""

    def __init__(self, args, model, device):
        self.args, self.model, self.device, self.graph = args, model, device, None
        matrices = [p for p in model.parameters() if p.dim() == 2]
        vectors = [p for p in model.parameters() if p.dim() != 2]
        on_gpu = device.type == "cuda"
        self.opt = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
            lr=torch.tensor(0.0, device=device), betas=(0.9, 0.98), fused=on_gpu, capturable=on_gpu)
        self.params = list(model.parameters())
        self.ema = [p.detach().clone() for p in self.params]
        shape = (args.batch, WINDOW)
        self.ids, self.targets = (torch.zeros(shape, dtype=torch.long, device=device) for _ in range(2))

    def regularise(self):
        """From random tokens, which never come twice, to text, which is short enough to be learned by heart."""
        self.opt.param_groups[0]["weight_decay"] = self.args.weight_decay
        for module in self.model.modules():
            if isinstance(module, nn.Dropout):
                module.p = self.args.dropout
        self.graph = None  # both are constants of the captured step

    def set_lr(self, lr):
        for group in self.opt.param_groups:  # a tensor, so that the captured step reads the new value
            group["lr"].fill_(lr)

    def run(self):
        # No cache of cast weights: a captured step must cast the weights of its own time.
        with torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False):
            weights = []
            logits = self.model(self.ids, weights, TAUGHT["induction"][0] + 1)
        loss = F.cross_entropy(logits.float().flatten(0, 1), self.targets.flatten(), ignore_index=IGNORE)
        loss = loss + self.args.teach * taught_loss(weights, self.ids)
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 1.0)
        self.opt.step()
        # The average of the recent weights generalises better than the last ones.
        torch._foreach_lerp_(self.ema, [p.detach() for p in self.params], 1 - self.args.ema)
        return loss.detach()

    def capture(self):
        self.set_lr(0.0)  # the warm-up allocates and moves no weight
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.opt.zero_grad(set_to_none=True)
                self.run()
        torch.cuda.current_stream().wait_stream(side)
        self.opt.zero_grad(set_to_none=True)  # so that the captured backward writes gradients, not adds
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.run()

    def step(self, ids, targets, lr):
        self.ids.copy_(ids)
        self.targets.copy_(targets)
        if self.device.type == "cuda" and not self.args.no_graph and self.graph is None:
            self.capture()
        self.set_lr(lr)
        if self.graph is not None:
            self.graph.replay()
            return self.loss
        self.opt.zero_grad(set_to_none=True)
        return self.run()


@torch.no_grad()
def mean_loss(model, rows, device):
    total, count = 0.0, 0
    for part in torch.from_numpy(rows).split(32):
        part = part.to(device)
        total += F.cross_entropy(model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten(), reduction="sum").item()
        count += part[:, 1:].numel()
    return total / count


class Meter:
    """Measures the averaged weights: losses, and how far the heads are. Keeps the best weights by validation loss."""

    def __init__(self, speeches, val_speeches, newline_id, device):
        self.device, self.model = device, Llama().to(device).eval()
        fixed = np.random.default_rng(0)
        self.val_rows = Stream(val_speeches, newline_id, fixed).windows()
        self.train_rows = Stream(speeches, newline_id, fixed).windows()[:len(self.val_rows)]
        flat = np.array([t for s in val_speeches for t in s + [newline_id, newline_id]])[:32 * 255].reshape(-1, 255)
        self.plain_rows = np.concatenate([np.zeros((len(flat), 1), dtype=np.int64), flat], axis=1)
        self.best, self.best_weights, self.best_line, self.began = float("inf"), None, "", time.time()

    @torch.no_grad()
    def measure(self, step, trainer):
        """Returns the share of random tokens predicted when they come the second time."""
        for p, average in zip(self.model.parameters(), trainer.ema):
            p.copy_(average)
        val, seen = (mean_loss(self.model, rows, self.device) for rows in (self.val_rows, self.train_rows))
        scores, right = head_scores(self.model, self.plain_rows, self.device)
        line = (f"step {step:6d} {time.time() - self.began:6.1f} s  train {seen:.4f}  val {val:.4f}  "
                f"repeats right {right:.3f}  best heads: " + "  ".join(f"{k} {v.max():.2f}" for k, v in scores.items()))
        print(line, flush=True)
        if val < self.best:
            self.best, self.best_line = val, line
            self.best_weights = {k: v.clone() for k, v in self.model.state_dict().items()}
        return right


def learn_to_repeat(args, trainer, batches, meter):
    """First part: random tokens only, at a steady rate, until nearly all repeats are predicted."""
    for step in range(args.repeat_steps):
        if step % args.eval_every == 0:
            right = meter.measure(step, trainer)
            if right > 0.9 or time.time() - meter.began > 60 * args.minutes * 0.55:
                return
        trainer.step(*batches.next(True), args.lr * min(1, (step + 1) / 200))


def learn_text(args, trainer, batches, meter):
    """Second part: text and some repeats, the learning rate falling along half a cosine to 2 % of its peak."""
    trainer.regularise()
    began, step = time.time(), 0
    seconds = 60 * args.minutes - (began - meter.began)
    while True:
        progress = max(step / args.steps, (time.time() - began) / seconds)
        if step % args.eval_every == 0 or progress >= 1:
            meter.measure(step, trainer)
        if progress >= 1:
            return
        if step % 50 == 49:
            batches.regroup()
        warm = min(1, (step + 1) / 100)
        trainer.step(*batches.next(False), args.lr * warm * (0.02 + 0.49 * (1 + math.cos(math.pi * progress))))
        step += 1


def train(args, speeches, val_speeches, newline_id, device):
    torch.manual_seed(args.seed)
    model = Llama()
    look_back(model)
    trainer = Trainer(args, model.to(device), device)
    batches = Batches(args, speeches, newline_id, device)
    meter = Meter(speeches, val_speeches, newline_id, device)
    learn_to_repeat(args, trainer, batches, meter)
    learn_text(args, trainer, batches, meter)
    meter.model.load_state_dict(meter.best_weights)
    return meter


# ---------------------------------------------------------------------------- what the heads do

@torch.no_grad()
def head_scores(model, text_rows, device):
    """Mean attention of each (layer, head) to four places; text rows hold one <|endoftext|>, at position 0.

    sink: to position 0. previous: from i to i - 1. On random tokens said twice, at the second time:
    induction: to the token after the first copy. duplicate: to the first copy itself.
    """
    weights = []
    model(torch.from_numpy(text_rows).to(device), weights)
    text = torch.stack(weights).mean(1)  # (layer, head, query, key)
    scores = {"previous": text.diagonal(-1, 2, 3)[..., 1:].mean(-1), "sink": text[:, :, 2:, 0].mean(-1)}
    rng, half = np.random.default_rng(1), 64
    chunk = rng.integers(257, CONFIG["vocab_size"], (32, half))  # merged tokens: these occur in the text, not all bytes do
    twice = np.concatenate([np.zeros((32, 1), dtype=np.int64), chunk, chunk], axis=1)
    weights = []
    logits = model(torch.from_numpy(twice).to(device), weights)
    random = torch.stack(weights).mean(1)
    scores["induction"] = random.diagonal(-(half - 1), 2, 3)[..., 2:].mean(-1)
    scores["duplicate"] = random.diagonal(-half, 2, 3)[..., 1:].mean(-1)
    right = (logits[:, half + 1:-1].argmax(-1).cpu().numpy() == chunk[:, 1:]).mean()
    return {k: v.cpu().numpy() for k, v in scores.items()}, float(right)


def print_heads(scores):
    kinds = ("previous", "induction", "duplicate", "sink")
    print("layer head  " + "  ".join(f"{k:>9}" for k in kinds))
    for layer, head in np.ndindex(scores["sink"].shape):
        print(f"{layer:5d} {head:4d}  " + "  ".join(f"{scores[k][layer, head]:9.3f}" for k in kinds))


@torch.no_grad()
def write_text(model, tok, prompt, count, temperature, device, seed=0):
    """Draws from the model until <|endoftext|> or count tokens; temperature 0 is greedy."""
    gen = torch.Generator().manual_seed(seed)
    ids = tok.encode(prompt).ids
    for _ in range(count):
        logits = model(torch.tensor([ids[-WINDOW:]], device=device))[0, -1].float().cpu()
        if temperature == 0:
            ids.append(int(logits.argmax()))
        else:
            ids.append(int(torch.multinomial((logits / temperature).softmax(-1), 1, generator=gen)))
        if ids[-1] == EOT_ID:
            break
    return tok.decode(ids, skip_special_tokens=False)


# ---------------------------------------------------------------------------- files

def save(model, tok, out):
    out.mkdir(parents=True, exist_ok=True)
    tensors = {"model." + k: v.float().cpu().contiguous() for k, v in model.state_dict().items()}
    save_file(tensors, str(out / "model.safetensors"), metadata={"format": "pt"})
    tok.save(str(out / "tokenizer.json"))
    files = {
        "config.json": CONFIG,
        "generation_config.json": {"bos_token_id": EOT_ID, "do_sample": True, "eos_token_id": EOT_ID, "temperature": 0.8},
        "tokenizer_config.json": {
            "add_bos_token": True, "add_eos_token": False, "add_prefix_space": False, "bos_token": EOT,
            "clean_up_tokenization_spaces": False, "eos_token": EOT, "model_max_length": WINDOW,
            "tokenizer_class": "PreTrainedTokenizerFast"},
    }
    for name, content in files.items():
        (out / name).write_text(json.dumps(content, indent=2) + "\n")


def report(meter, tok, chars_per_token):
    """Prints the numbers the model card quotes."""
    model, device = meter.model, meter.device
    print(f"best: {meter.best_line}")
    print(f"{meter.best / chars_per_token / math.log(2):.3f} bits a character ({chars_per_token:.3f} characters a token)")
    print_heads(head_scores(model, meter.plain_rows, device)[0])
    for name, temperature, seed in (("greedy", 0, 0), ("temperature 0.8", 0.8, 0), ("temperature 0.8", 0.8, 1)):
        print(f"--- {name}\n" + write_text(model, tok, "ROMEO:\n", 250, temperature, device, seed), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a text file; blank lines part the speeches")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the directory to write")
    parser.add_argument("--steps", type=int, default=3500, help="steps on text")
    parser.add_argument("--repeat-steps", type=int, default=10000, help="at most so many steps on random repeats first")
    parser.add_argument("--minutes", type=float, default=1e9, help="finish the schedule within this time")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--weight-decay", type=float, default=0.5)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--long-share", type=float, default=0.5, help="share of the text without <|endoftext|> inside")
    parser.add_argument("--teach", type=float, default=0.3, help="weight of the loss that tells two heads where to look")
    parser.add_argument("--ema", type=float, default=0.995)
    parser.add_argument("--random-share", type=float, default=0.1875, help="share of sequences with random repeats")
    parser.add_argument("--again-share", type=float, default=0.0625, help="share of sequences that repeat a piece of text")
    parser.add_argument("--eval-every", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-graph", action="store_true", help="do not capture the step as a CUDA graph")
    args = parser.parse_args()

    text = args.data.read_text(encoding="utf-8")
    cut = text.index("\n\n", int(0.9 * len(text))) + 2  # the last tenth is for validation
    tok = train_tokenizer(text[:cut])
    newline_id = tok.token_to_id("Ċ")
    speeches, val_speeches = encode_speeches(tok, text[:cut]), encode_speeches(tok, text[cut:])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    meter = train(args, speeches, val_speeches, newline_id, device)
    save(meter.model, tok, args.out)
    report(meter, tok, len(text[cut:]) / sum(len(s) + 2 for s in val_speeches))


if __name__ == "__main__":
    main()
