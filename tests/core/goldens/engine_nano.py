"""Writes engine_nano.txt: random scenarios and what nano-vllm's own scheduler and block manager do with them.

    python3 engine_nano.py PATH_TO_NANO_VLLM > engine_nano.txt

PATH_TO_NANO_VLLM is a checkout of github.com/GeeeekExplorer/nano-vllm at bb823b3 (2026-04). Only its
engine/sequence.py, block_manager.py and scheduler.py run; they need xxhash and numpy, no GPU and no torch.

A scenario line is   S block_size num_blocks max_num_seqs max_num_batched_tokens num_requests
then one line each   at_step max_tokens token_ids...
then one per step    P|D id:cached:scheduled:table:slots ... pre[..] free[..] map hash=block,... refs[..]
The "sampled" token at position p of sequence i is 1000 * (i + 1) + p, as in a bookkeeping-only Engine.
"""
import importlib.util
import random
import sys
import types
from itertools import count
from pathlib import Path

NUM_SCENARIOS = 40


def load_nano_vllm(root):
    """The three engine files, without the package's __init__ (which needs torch)."""
    for name in ("nanovllm", "nanovllm.engine", "nanovllm.config", "nanovllm.sampling_params"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["nanovllm.config"].Config = object
    sys.modules["nanovllm.sampling_params"].SamplingParams = Params
    for name in ("sequence", "block_manager", "scheduler"):
        spec = importlib.util.spec_from_file_location(f"nanovllm.engine.{name}", root / f"nanovllm/engine/{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    return sys.modules["nanovllm.engine.sequence"].Sequence, sys.modules["nanovllm.engine.scheduler"].Scheduler


class Params:
    def __init__(self, max_tokens=64):
        self.temperature, self.max_tokens, self.ignore_eos = 1.0, max_tokens, True


def numbers(values):
    return "[" + ",".join(map(str, values)) + "]"


def random_scenario(dice):
    """Tiny pools, prompts over two tokens with a common beginning; every request fits the pool to its end."""
    config = types.SimpleNamespace(
        kvcache_block_size=dice.randint(2, 4), num_kvcache_blocks=dice.randint(3, 8),
        max_num_seqs=dice.randint(1, 4), max_num_batched_tokens=dice.randint(2, 16), eos=-1)
    slots = config.kvcache_block_size * config.num_kvcache_blocks
    beginning = [dice.randint(1, 2) for _ in range(10)]
    requests = []
    for _ in range(dice.randint(2, 5)):
        tokens = beginning[:dice.randint(0, 10)] + [dice.randint(1, 2) for _ in range(dice.randint(1, 4))]
        if len(tokens) < slots:
            requests.append((dice.randint(0, 5), min(dice.randint(2, 10), slots - len(tokens)), tokens))
    return config, sorted(requests, key=lambda request: request[0])


def slots_of(seq, is_prefill):
    size = seq.block_size
    first = seq.num_cached_tokens if is_prefill else len(seq) - 1
    return [seq.block_table[p // size] * size + p % size for p in range(first, first + seq.num_scheduled_tokens)]


def run(config, requests, Sequence, Scheduler):
    Sequence.block_size, Sequence.counter = config.kvcache_block_size, count()
    scheduler = Scheduler(config)
    preempted, preempt = [], scheduler.preempt

    def note_and_preempt(seq):
        preempted.append(seq.seq_id)
        preempt(seq)

    scheduler.preempt = note_and_preempt
    pending, steps = list(requests), 0
    while pending or not scheduler.is_finished():
        clock = max(steps, pending[0][0]) if scheduler.is_finished() else steps
        while pending and pending[0][0] <= clock:
            _, max_tokens, tokens = pending.pop(0)
            scheduler.add(Sequence(tokens, Params(max_tokens)))
        preempted.clear()
        seqs, is_prefill = scheduler.schedule()
        line = ["P" if is_prefill else "D"]
        for seq in seqs:
            line.append(f"{seq.seq_id}:{seq.num_cached_tokens}:{seq.num_scheduled_tokens}:"
                        f"{numbers(seq.block_table)}:{numbers(slots_of(seq, is_prefill))}")
        line.append("pre" + numbers(preempted))
        tokens = [1000 * (seq.seq_id + 1) + seq.num_cached_tokens + seq.num_scheduled_tokens for seq in seqs]
        scheduler.postprocess(seqs, tokens, is_prefill)
        steps += 1
        manager = scheduler.block_manager
        line.append("free" + numbers(manager.free_block_ids))
        line.append("map" + ",".join(f"{h}={b}" for h, b in sorted(manager.hash_to_block_id.items())))
        line.append("refs" + numbers(block.ref_count for block in manager.blocks))
        print(*line)


def main():
    Sequence, Scheduler = load_nano_vllm(Path(sys.argv[1]))
    for seed in range(NUM_SCENARIOS):
        config, requests = random_scenario(random.Random(seed))
        print("S", config.kvcache_block_size, config.num_kvcache_blocks, config.max_num_seqs,
              config.max_num_batched_tokens, len(requests))
        for at_step, max_tokens, tokens in requests:
            print(at_step, max_tokens, *tokens)
        run(config, requests, Sequence, Scheduler)


if __name__ == "__main__":
    main()
