"""Dense products: Tiga beside OpenBLAS, as NumPy has it, in one process.

`cargo xtask bench` runs it after `spmm.py`, whose arrays and rounds it takes. Tiga folds each element of the result from
the first term to the last, in the order that its law gives; OpenBLAS adds in whatever order is fast.
"""

import argparse
import os
import statistics
import subprocess

import numpy

from spmm import HERE, OUT, THREADS, array, measure
from tiga import Tiga

FLOOR = 0.5
# The first layer of a GCN on Cora, layers between, a square.
SHAPES = [(2708, 1433, 16), (4096, 256, 256), (16384, 512, 512), (100_000, 64, 64), (1000, 1000, 1000), (1024, 1024, 1024)]


def check(x, w, runs):
    """Each result within what sums of so many products in float32 may be off."""
    wide = numpy.float64
    expected = x.astype(wide) @ w.astype(wide)
    bound = x.shape[1] * numpy.finfo(numpy.float32).eps * (abs(x).astype(wide) @ abs(w).astype(wide))
    for name, (run, result) in runs.items():
        run()
        assert (numpy.abs(result - expected) <= bound).all(), f"{name} is wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    bundle = OUT / "dense.tgb"
    subprocess.run([os.environ["TIGAC"], HERE / "dense.tg", "-o", bundle], check=True)
    tiga = Tiga(os.environ["TIGA_LIBRARY"])
    context, bundle = tiga.context(), tiga.bundle(bundle)
    random = numpy.random.default_rng(5)
    for rows, terms, columns in SHAPES:
        name = f"dense, {rows} x {terms} @ {terms} x {columns}"
        if options.only not in name:
            continue
        x, w = array((rows, terms)), array((terms, columns))
        x[:], w[:] = random.random(x.shape, numpy.float32) - 0.5, random.random(w.shape, numpy.float32) - 0.5
        ours, theirs = array((rows, columns)), array((rows, columns))
        run = tiga.call(bundle, "dense", None, [("x", x), ("w", w)], ("out", ours))
        runs = {"Tiga": (lambda run=run: run(context), ours)}
        runs["OpenBLAS"] = (lambda x=x, w=w, out=theirs: numpy.matmul(x, w, out=out), theirs)
        check(x, w, runs)
        median = {peer: statistics.median(each) for peer, each in measure(runs, options.rounds).items()}
        print(f"{name}: {THREADS} threads")
        for peer, each in median.items():
            print(f"  {peer:<20} {each:9.3f} ms  {2e-6 * rows * terms * columns / each:6.1f} GFLOP/s")
        ratio = median["OpenBLAS"] / median["Tiga"]
        print(f"  OpenBLAS / Tiga {ratio:.2f}{'' if ratio >= FLOOR else f' MISSED (floor {FLOOR})'}\n", flush=True)


if __name__ == "__main__":
    main()
