# SPDX-License-Identifier: Apache-2.0
"""The training loop of every family.

AdamW with warm-up and cosine decay, gradient clipping, weights averaged over the last steps. --minutes lets the
learning rate fall by the clock, so that training ends in time on any machine; --epochs is repeatable. The state is
stored every few minutes; --resume goes on from there. Where PyTorch has a CUDA device, training runs there; --workers
makes batches in other processes meanwhile (they are the same ones).
"""
import argparse
import copy
import json
import math
import os
import time
from pathlib import Path

import torch

import packaged

SAVE_SECONDS = 120


def parser(description, places=("grammar", "data", "out"), **defaults):
    """The arguments of a training program: its places (one that is a pair has choices) and options."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for place in places:
        name, choices = (place, None) if isinstance(place, str) else place
        made.add_argument(name, choices=choices)
    made.add_argument("--dev", help="judged after every epoch")
    add_arguments(made, **defaults)
    return made


def add_arguments(parser, rate=2e-3, batch=20, seed=11):
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--start", help="weights to begin with (last.pt of a run, or a packaged model); those of other "
                        "names or shapes are left out")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--nospeech", type=float, default=0.06, help="share of noise and silence among the examples")
    parser.add_argument("--noise", type=float, nargs=2, metavar=("SHARE", "DECIBELS"), help="how much of the speech is "
                        "in noise, and the least signal-to-noise ratio (0.36 5)")
    parser.add_argument("--steps", type=int, help="stop after so many steps (to measure the speed)")
    parser.add_argument("--workers", type=int, default=0, help="processes that make batches; 0: none but this one")


def begin(seed=1, out=None):
    """One thread or a CUDA device, a seed; makes the folder `out`, which is returned."""
    torch.set_num_threads(1)
    if torch.cuda.is_available():
        torch.set_default_device("cuda")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(seed)
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        return Path(out)
    return None


def load_matching(model, path, prefix=""):
    """Loads tensors that fit; prints those that stay as they are. Names in a packaged model stand behind `prefix`."""
    own = model.state_dict()
    other = (packaged.weights(path, own, prefix) if Path(path).suffix == ".gguf"
             else torch.load(path, map_location="cpu"))
    fitting = {k: v for k, v in other.items() if k in own and own[k].shape == v.shape}
    model.load_state_dict(fitting, strict=False)
    left = [k for k in own if k not in fitting]
    print(f"{len(fitting)} tensors from {Path(path).name}" + (f", not {' '.join(left)}" if left else ""), flush=True)


def moved(what, device):
    """Tensors, and what holds tensors, on a device."""
    if torch.is_tensor(what):
        return what.to(device)
    if isinstance(what, dict):
        return {name: moved(part, device) for name, part in what.items()}
    if isinstance(what, (list, tuple)):
        return type(what)(moved(part, device) for part in what)
    return what


class Steps(torch.utils.data.Dataset):
    """The batches of an epoch, from one of them on."""

    def __init__(self, batches, order, at, step):
        self.batches, self.order, self.at, self.step = batches, order, at, step

    def __len__(self):
        return len(self.order) - self.at

    def __getitem__(self, n):
        return self.batches.make(self.order[self.at + n], self.step + n)


def as_made(batch):
    return batch


def in_a_worker(_):
    if torch.cuda.is_available():
        torch.set_default_device("cpu")


def save(path, what):
    torch.save(moved(what, "cpu"), f"{path}.part")
    os.replace(f"{path}.part", path)


@torch.no_grad()
def follow(average, model, keep):
    pairs = list(zip(average.state_dict().values(), model.state_dict().values()))
    own, new = zip(*((a, p) for a, p in pairs if a.is_floating_point()))
    torch._foreach_mul_(own, keep)
    torch._foreach_add_(own, new, alpha=1 - keep)
    for a, p in pairs:
        if not a.is_floating_point():
            a.copy_(p)


class Recorded:
    """losses(model, batch) on a CUDA device, where each shape of a batch is recorded once as a graph: the kernels of a
    small network are shorter than their launches. For batches that are tensors alone, of few shapes."""

    def __init__(self, losses):
        self.losses, self.made = losses, {}

    def __call__(self, model, batch):
        key = tuple((name, tensor.shape) for name, tensor in batch.items())
        if key not in self.made:
            call = Call(self.losses, model, list(batch))
            sample = tuple(tensor.clone() for tensor in batch.values())
            self.made[key] = torch.cuda.make_graphed_callables(call, sample, allow_unused_input=True), call.weights
        run, weights = self.made[key]
        return {name: (value, weight) for (name, weight), value in zip(weights.items(), run(*batch.values()))}


class Call(torch.nn.Module):
    """losses(model, batch) as a module from tensors to tensors."""

    def __init__(self, losses, model, names):
        super().__init__()
        self.losses, self.model, self.names, self.weights = losses, model, names, {}

    def forward(self, *tensors):
        parts = self.losses(self.model, dict(zip(self.names, tensors)))
        self.weights.update({name: weight for name, (_, weight) in parts.items()})
        return tuple(value for value, _ in parts.values())


def train(model, batches, losses, out, args, evaluate=None, prefix=""):
    """Writes OUT/last.pt (averaged weights) and returns the averaged model. prefix: of the model's names that a
    packaged model has, too.

    losses(model, batch) returns {name: (loss, weight)}; evaluate(model), called after every epoch with the averaged
    model, returns a line for the log."""
    out = Path(out)
    if args.start:
        load_matching(model, args.start, prefix)
    average = copy.deepcopy(model).eval()
    matrices = [p for p in model.parameters() if p.requires_grad and p.dim() > 1]
    vectors = [p for p in model.parameters() if p.requires_grad and p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01},
                                   {"params": vectors, "weight_decay": 0.0}], lr=args.rate, betas=(0.9, 0.98),
                                  **({"fused": True} if torch.cuda.is_available() else {}))
    device = next(model.parameters()).device
    step, epoch, at, spent, done = 0, 1, 0, 0.0, 0.0
    if args.resume and (out / "state.pt").exists():
        state = torch.load(out / "state.pt", map_location=device)
        model.load_state_dict(state["model"])
        average.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        step, epoch, at, spent = (state[k] for k in ("step", "epoch", "at", "spent"))
        torch.manual_seed(step)
        print(f"goes on at step {step} of epoch {epoch}", flush=True)
    order = batches.epoch(epoch)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(batches.corpus.items)} utterances, "
          f"{len(batches.corpus.rows) / 360000:.1f} h, {len(order)} steps an epoch; "
          f"{json.dumps({k: v for k, v in vars(args).items() if isinstance(v, (int, float))})}", flush=True)
    total_steps = args.epochs * len(order)
    began = saved = time.time() - spent
    running = {}

    def store():
        save(out / "last.pt", average.state_dict())
        save(out / "state.pt", {"model": model.state_dict(), "average": average.state_dict(),
                                "optimizer": optimizer.state_dict(), "step": step, "epoch": epoch, "at": at,
                                "spent": time.time() - began})

    model.train()
    while done < 1:
        for batch in torch.utils.data.DataLoader(Steps(batches, order, at, step), batch_size=None,
                                                 num_workers=args.workers, worker_init_fn=in_a_worker,
                                                 collate_fn=as_made):
            done = (time.time() - began) / 60 / args.minutes if args.minutes else step / total_steps
            if done >= 1 or (args.steps and step >= args.steps):
                done = 1.0
                break
            rate = args.rate * min(1, (step + 1) / args.warmup) * (0.5 + 0.5 * math.cos(math.pi * done)) + 1e-6
            for group in optimizer.param_groups:
                group["lr"] = rate
            parts = losses(model, moved(batch, device))
            loss = sum(value * weight for value, weight in parts.values())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            if torch.isfinite(torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)):
                optimizer.step()
            step, at = step + 1, at + 1
            follow(average, model, min(0.995, step / (step + 20)))
            for name, (value, _) in parts.items():
                running[name] = running.get(name, 0.0) + value.detach() / 100
            if step % 100 == 0:
                print(f"step {step} epoch {epoch} rate {rate:.2e} " +
                      " ".join(f"{k} {v:.4f}" for k, v in running.items()) + f" {time.time() - began:.0f} s",
                      flush=True)
                running = {}
            if time.time() - saved > SAVE_SECONDS:
                store()
                saved = time.time()
        if evaluate and at > 0:
            with torch.no_grad():
                print(f"epoch {epoch} step {step}: {evaluate(average)} ({time.time() - began:.0f} s)", flush=True)
        if done < 1:
            epoch, at = epoch + 1, 0
            order = batches.epoch(epoch)
        store()
    return average
