"""Products of sparse and dense matrices: Tiga beside SciPy, MKL, numba, GraphBLAS and loops in C, in one process.

`cargo xtask bench` makes what this needs and runs it. Each product is checked against one in float64; then all peers run
once a round, in random order, on the same arrays (64-byte aligned, pages of 2 MB), and medians are compared.
"""

import argparse
import ctypes
import os
import statistics
import subprocess
import time
from pathlib import Path

import graphblas
import numba
import numpy
import scipy.sparse
import sparse_dot_mkl

from tiga import POINTER, Tiga

HERE = Path(__file__).parent
OUT = Path(os.environ["TIGA_BENCH_OUT"])
THREADS = len(os.sched_getaffinity(0))
LIBRARIES = ["SciPy", "MKL", "numba", "GraphBLAS"]
GATHERS = "gathers alone"
TIGA = ["constant", "specialised", "run-time"]


def loops():
    """The loops in C, compiled for this machine."""
    library = OUT / "loops.so"
    flags = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, HERE / "loops.c", "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    for width in [1, 16, 32, 64]:
        getattr(loaded, f"spmm_{width}").argtypes = [ctypes.c_int64] + [POINTER] * 5
        getattr(loaded, f"gathers_{width}").argtypes = [ctypes.c_int64] + [POINTER] * 4
    loaded.copy.argtypes = [ctypes.c_int64, POINTER, POINTER]
    loaded.large_pages.argtypes = [POINTER, ctypes.c_size_t]
    return loaded


C = loops()


def array(shape, dtype=numpy.float32):
    """Zeros, aligned to 64 bytes, in large pages where the system gives them."""
    bytes_ = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    page = 1 << 21
    raw = numpy.empty(bytes_ + 2 * page, numpy.uint8)
    begin = -raw.ctypes.data % page
    C.large_pages(raw.ctypes.data + begin, bytes_ + (-bytes_ % page))
    out = raw[begin : begin + bytes_].view(dtype).reshape(shape)
    out[...] = 0
    return out


def regular(nodes, _random):
    return numpy.full(nodes, 16)


def power_law(nodes, random):
    return random.choice([8, 64, 256], nodes, p=[0.9, 0.09, 0.01])


class Graph:
    """Random sources, each at most once a row (GraphBLAS takes no others), in ascending order as all libraries like it."""

    def __init__(self, nodes, degrees):
        random = numpy.random.default_rng(1)
        degree = degrees(nodes, random)
        self.nodes = nodes
        self.row_ptr = numpy.concatenate([[0], numpy.cumsum(degree)]).astype(numpy.int64)
        self.edges = int(self.row_ptr[-1])
        key = numpy.repeat(numpy.arange(nodes), degree) * nodes + random.integers(0, nodes, self.edges)
        while True:
            key.sort()
            twice = numpy.flatnonzero(key[1:] == key[:-1])
            if not len(twice):
                break
            key[twice] = key[twice] // nodes * nodes + random.integers(0, nodes, len(twice))
        # The loops in C look up to 64 edges ahead.
        padded = array(self.edges + 64, numpy.int32)
        self.col = padded[: self.edges]
        self.col[:] = key % nodes
        self.weights = array(self.edges)
        self.weights[:] = random.random(self.edges, dtype=numpy.float32)


@numba.njit(parallel=True, fastmath=True)
def by_numba(row_ptr, col, w, x, out):
    for d in numba.prange(len(row_ptr) - 1):
        for k in range(x.shape[1]):
            out[d, k] = 0
        for e in range(row_ptr[d], row_ptr[d + 1]):
            for k in range(x.shape[1]):
                out[d, k] += w[e] * x[col[e], k]


@numba.njit(parallel=True, fastmath=True)
def by_numba_alone(row_ptr, col, w, x, out):
    for d in numba.prange(len(row_ptr) - 1):
        total = numba.float32(0)
        for e in range(row_ptr[d], row_ptr[d + 1]):
            total += w[e] * x[col[e], 0]
        out[d, 0] = total


class Bundles:
    """spmm.tg with its width as a constant, as one that is compiled for, and as any."""

    def __init__(self, tiga):
        self.tiga, self.context = tiga, tiga.context()

    def run(self, graph, width, how, handle, x, out):
        text = (HERE / "spmm.tg").read_text()
        name = f"spmm_{width}_{how}"
        options = []
        if how == "constant":
            text = text.replace("<F>", "").replace("[F]", f"[{width}]").replace(", F]", f", {width}]")
        elif how == "specialised":
            options = ["--specialize", f"F={width}"]
        model, bundle = OUT / f"{name}.tg", OUT / f"{name}.tgb"
        model.write_text(text)
        subprocess.run([os.environ["TIGAC"], model, "-o", bundle, *options], check=True)
        inputs = [("x", x), ("w", graph.weights)]
        run = self.tiga.call(self.tiga.bundle(bundle), "spmm", ("g", handle), inputs, ("out", out))
        return lambda: run(self.context)


def peers(graph, width, x, bundles):
    """What runs, by name: a function, and what gives its result."""
    out = {}
    handle = bundles.tiga.graph(graph.nodes, graph.row_ptr, graph.col)
    for how in TIGA:
        result = array((graph.nodes, width))
        out[how] = (bundles.run(graph, width, how, handle, x, result), lambda result=result: result)
    pointers = [each.ctypes.data for each in (graph.row_ptr, graph.col, graph.weights, x)]
    by_c, in_c = getattr(C, f"spmm_{width}"), array((graph.nodes, width))
    out["C"] = (lambda: by_c(graph.nodes, *pointers, in_c.ctypes.data), lambda: in_c)
    shape = (graph.nodes, graph.nodes)
    matrix = scipy.sparse.csr_matrix((graph.weights, graph.col, graph.row_ptr.astype(numpy.int32)), shape)
    last = {}

    def keep(name, compute):
        def run():
            last[name] = compute()

        return run, lambda: last[name]

    vector = x[:, 0].copy() if width == 1 else None
    out["SciPy"] = keep("SciPy", lambda: matrix @ (x if vector is None else vector))
    out["MKL"] = keep("MKL", lambda: sparse_dot_mkl.dot_product_mkl(matrix, x if vector is None else vector))
    in_numba = array((graph.nodes, width))
    rows = by_numba_alone if width == 1 else by_numba
    out["numba"] = (lambda: rows(graph.row_ptr, graph.col, graph.weights, x, in_numba), lambda: in_numba)
    unsigned = [each.astype(numpy.uint64) for each in (graph.row_ptr, graph.col)]
    sparse = graphblas.Matrix.from_csr(*unsigned, graph.weights.copy(), ncols=graph.nodes)
    ring = graphblas.semiring.plus_times
    if width == 1:
        dense = graphblas.Vector.from_dense(vector)
        out["GraphBLAS"] = keep("GraphBLAS", lambda: sparse.mxv(dense, ring).new())
    else:
        dense = graphblas.Matrix.from_dense(x)
        out["GraphBLAS"] = keep("GraphBLAS", lambda: sparse.mxm(dense, ring).new())
    return out


def gathers(graph, width, x):
    """What reads all that a product reads, edge after edge, without rows and their results."""
    sums = array((graph.edges // 8192 + 1, width))
    pointers = [each.ctypes.data for each in (graph.col, graph.weights, x, sums)]
    alone = getattr(C, f"gathers_{width}")
    return lambda sums=sums: alone(graph.edges, *pointers)


def check(graph, width, x, runs):
    """Each result within what sums of so many products in float32 may be off."""
    shape = (graph.nodes, graph.nodes)
    exact = scipy.sparse.csr_matrix((graph.weights.astype(numpy.float64), graph.col, graph.row_ptr), shape)
    expected = exact @ x.astype(numpy.float64)
    bound = 256 * numpy.finfo(numpy.float32).eps * (abs(exact) @ abs(x.astype(numpy.float64)))
    for name, (run, result) in runs.items():
        run()
        got = result()
        if name == "GraphBLAS":
            got = got.to_dense(fill_value=0)
        off = numpy.abs(numpy.asarray(got).reshape(expected.shape) - expected)
        assert (off <= bound).all(), f"{name} is wrong"


def bandwidth():
    """Bytes a second that a copy moves, read and written."""
    count = 1 << 26
    source, target = array(count), array(count)
    times = []
    for _ in range(8):
        begin = time.perf_counter()
        C.copy(count, source.ctypes.data, target.ctypes.data)
        times.append(time.perf_counter() - begin)
    return 8 * count / statistics.median(times)


def measure(runs, rounds):
    """Milliseconds by name: all run once a round, each round in another order, so that none always follows the same."""
    times, order = {name: [] for name in runs}, numpy.random.default_rng(3)
    for turn in range(rounds + 1):
        for name in order.permutation(list(runs)):
            begin = time.perf_counter()
            runs[name][0]()
            if turn:
                times[name].append(1e3 * (time.perf_counter() - begin))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    numba.set_num_threads(THREADS)
    bundles = Bundles(Tiga(os.environ["TIGA_LIBRARY"]))
    speed = bandwidth()
    print(f"{THREADS} threads; a copy moves {speed / 1e9:.1f} GB/s; medians of {options.rounds} rounds in ms,")
    print("in brackets the middle half of the rounds; bound: each array moved once\n")
    nodes = 131_072
    cases = [(f"degree 16, F = {width}", nodes, regular, width) for width in (1, 16, 64)]
    cases += [(f"power law, F = {width}", nodes, power_law, width) for width in (1, 16, 64)]
    cases += [("1 M nodes, F = 32", 1 << 20, regular, 32)]
    ratios = []
    graphs = {}
    for name, count, degrees, width in [case for case in cases if options.only in case[0]]:
        if (count, degrees) not in graphs:
            graphs[count, degrees] = Graph(count, degrees)
        graph = graphs[count, degrees]
        x = array((count, width))
        x[:] = numpy.random.default_rng(2).random(x.shape, dtype=numpy.float32)
        runs = peers(graph, width, x, bundles)
        check(graph, width, x, runs)
        runs[GATHERS] = gathers(graph, width, x), None
        ratios.append(report(name, graph, width, measure(runs, options.rounds), speed))
    for what, each in zip(["Tiga", GATHERS], zip(*ratios)):
        print(f"geometric mean of the best library over {what}: {numpy.prod(each) ** (1 / len(each)):.2f}")


def report(name, graph, width, times, speed):
    """Prints a case; how much longer the best library takes than Tiga with the width as a constant, and
    than the gathers alone."""
    median = {peer: statistics.median(all_) for peer, all_ in times.items()}
    moved = 8 * graph.edges + 8 * graph.nodes + 8 * width * graph.nodes
    print(f"{name}: {graph.edges} edges, {moved / 1e6:.0f} MB, bound {1e3 * moved / speed:.2f} ms")
    for peer, each in times.items():
        low, _, high = statistics.quantiles(each, n=4)
        label = f"Tiga, {peer} F" if peer in TIGA else peer
        rate = 1e-9 * moved / (1e-3 * median[peer])
        print(f"  {label:<20} {median[peer]:9.3f}  [{low:.3f}, {high:.3f}]  {rate:6.1f} GB/s")
    best = min(LIBRARIES, key=lambda peer: median[peer])
    ours = median["constant"]
    floors = [
        (f"{best} / {GATHERS}", median[best] / median[GATHERS], 0),
        (f"{best} / Tiga", median[best] / ours, 0.9 if width == 1 else 1.0),
        ("C / Tiga", median["C"] / ours, 0.85),
    ]
    floors.append(("constant / run-time", ours / median["run-time"], 0.8))
    shown = [f"{what} {ratio:.2f}{'' if ratio >= floor else f' MISSED (floor {floor})'}" for what, ratio, floor in floors]
    print(f"  {'; '.join(shown)}\n", flush=True)
    return median[best] / ours, median[best] / median[GATHERS]


if __name__ == "__main__":
    main()
