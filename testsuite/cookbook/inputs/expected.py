"""Writes the inputs of the cookbook's tests and, with NumPy and SciPy in float64, what their results must be.

    python3 expected.py          # writes the .mtx and .npy files of this folder

Nothing here is random: numbers are cosines of their place, graphs are drawn by arithmetic. The tests read the files;
this script says where they come from.
"""
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from scipy.sparse.csgraph import connected_components


def wave(shape, step, scale=1.0):
    n = int(np.prod(shape))
    return (scale * np.cos(step * np.arange(1, n + 1) ** 1.1)).reshape(shape)


def save(name, array):
    """Inputs are float32 where the model is; what is computed from them is exact in float64."""
    array = np.asarray(array)
    np.save(f"{name}.npy", array)
    return array.astype(np.float64) if array.dtype == np.float32 else array


def f32(name, array):
    return save(name, array.astype(np.float32))


def mtx(name, rows, cols, shape, values=None):
    with open(f"{name}.mtx", "w") as out:
        kind = "pattern" if values is None else "real"
        out.write(f"%%MatrixMarket matrix coordinate {kind} general\n{shape[0]} {shape[1]} {len(rows)}\n")
        for i, (r, c) in enumerate(zip(rows, cols)):
            out.write(f"{r + 1} {c + 1}\n" if values is None else f"{r + 1} {c + 1} {values[i]!r}\n")


def adjacency(rows, cols, shape):
    """Duplicate edges count."""
    return sp.coo_matrix((np.ones(len(rows)), (rows, cols)), shape).tocsr()


def relu(x):
    return np.maximum(x, 0)


def mean_of(a, h):
    degree = np.asarray(a.sum(axis=1))
    return (a @ h) / np.maximum(degree, 1)


# A directed graph of 40 nodes: node 7 has no in-edge, some edges stand twice, node 3 has a self-loop.
N = 40
pairs = [((3 * i + 7 * k * k + 1) % N, (i * i + 5 * k) % N) for i in range(N) for k in range(1, 5)]
pairs += [(3, 3), (11, 2), (11, 2)]
pairs = [(d, s) for d, s in pairs if d != 7]
dst, src = (np.array(p) for p in zip(*pairs))
mtx("social", dst, src, (N, N))
A = adjacency(dst, src, (N, N))
order = np.lexsort((np.arange(len(dst)), dst))        # by destination, then as in the file
E = len(dst)

x = f32("x", wave((N, 6), 0.37))

# GCN, with the degree of A + I.
gw0, gw1 = f32("gcn_w0", wave((6, 8), 0.7)), f32("gcn_w1", wave((8, 3), 0.9))
xn = x / np.maximum(x.sum(axis=1, keepdims=True), 1)
d = 1 / np.sqrt(np.asarray(A.sum(axis=1)) + 1)
hat = lambda h: d * (A @ (d * h) + d * h)
save("gcn_logits", hat(relu(hat(xn @ gw0)) @ gw1))

# GAT.
H, D, K, C = 2, 4, 3, 5
w0, w1 = f32("gat_w0", wave((6, H * D), 0.51)), f32("gat_w1", wave((H * D, K * C), 0.43))
src0, dst0 = f32("gat_src0", wave((H, D), 1.3)), f32("gat_dst0", wave((H, D), 1.7))
src1, dst1 = f32("gat_src1", wave((K, C), 0.8)), f32("gat_dst1", wave((K, C), 1.1))


def attend(h, w, a, b):
    heads, width = a.shape
    z = (h @ w).reshape(N, heads, width)
    s, t = (z * a).sum(axis=2), (z * b).sum(axis=2)
    out = np.zeros_like(z)
    for n in range(N):
        near = src[dst == n]
        if len(near):
            score = s[near] + t[n]
            score = np.where(score > 0, score, 0.2 * score)
            p = np.exp(score - score.max(axis=0))
            out[n] = ((p / p.sum(axis=0))[:, :, None] * z[near]).sum(axis=0)
    return out


h = attend(x, w0, src0, dst0).reshape(N, H * D)
h = np.where(h > 0, h, np.exp(np.minimum(h, 0)) - 1)
save("gat_logits", attend(h, w1, src1, dst1).mean(axis=1))

# GraphSAGE.
sw0, sb0 = f32("sage_w0", wave((12, 8), 0.31)), f32("sage_b0", wave((8,), 0.6, 0.1))
sw1, sb1 = f32("sage_w1", wave((16, 5), 0.77)), f32("sage_b1", wave((5,), 0.4, 0.1))
unit = lambda h: h / np.maximum(np.linalg.norm(h, axis=1, keepdims=True), 1e-12)
sage = lambda h, w, b: np.concatenate([h, mean_of(A, h)], axis=1) @ w + b
save("sage_embedding", unit(sage(unit(relu(sage(x, sw0, sb0))), sw1, sb1)))

# GIN.
eps = 0.25
iw = [f32(f"gin_w{i}", wave(s, 0.2 + 0.3 * i, 0.3)) for i, s in enumerate([(6, 8), (8, 8), (8, 8), (8, 8)], 1)]
ib = [f32(f"gin_b{i}", wave((8,), 0.5 * i, 0.1)) for i in range(1, 5)]
r0, r1 = f32("gin_read0", wave((8, 3), 0.9, 0.1)), f32("gin_read1", wave((8, 3), 1.9, 0.1))
gin = lambda h, a, b, c, e: relu(((1 + eps) * h + A @ h) @ a + b) @ c + e
h = relu(gin(x, iw[0], ib[0], iw[1], ib[1]))
k = gin(h, iw[2], ib[2], iw[3], ib[3])
save("gin_nodes", k)
save("gin_scores", h.sum(axis=0) @ r0 + k.sum(axis=0) @ r1)

# R-GCN on 12 users and 9 items.
U, I = 12, 9
bi, bu = zip(*[((2 * u + 3 * k) % I, u) for u in range(U) for k in range(1 + u % 3)])
fd, fs = zip(*[((u + 5) % U, u) for u in range(U)] + [((3 * u) % U, u) for u in range(U)])
mtx("buys", bi, bu, (I, U))
mtx("follows", fd, fs, (U, U))
buys, follows = adjacency(bi, bu, (I, U)), adjacency(fd, fs, (U, U))
users, items = f32("users", wave((U, 5), 0.41)), f32("items", wave((I, 5), 0.87))
rw = {n: f32(f"rgcn_{n}", wave((5, 4), s)) for n, s in
      [("user", 0.3), ("item", 0.5), ("buys", 0.7), ("bought_by", 1.1), ("follows", 1.3)]}
save("rgcn_users", relu(users @ rw["user"] + mean_of(buys.T.tocsr(), items @ rw["bought_by"])
                        + mean_of(follows, users @ rw["follows"])))
save("rgcn_items", relu(items @ rw["item"] + mean_of(buys, users @ rw["buys"])))

# Scores of edges, in the graph's own order; the edges' features are given in the file's order.
ex = f32("edge_x", wave((E, 2), 0.23))
ew1, eb1, ew2 = f32("edge_w1", wave((14, 7), 0.61, 0.5)), f32("edge_b1", wave((7,), 0.3)), f32("edge_w2", wave((7,), 0.9))
a, b = x[src][order], x[dst][order]
length = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
save("edge_cosine", np.where(length > 0, (a * b).sum(axis=1) / length, 0))
save("edge_score", 1 / (1 + np.exp(-(relu(np.concatenate([a, b, ex[order]], axis=1) @ ew1 + eb1) @ ew2))))

# Heat on a triangulated disc: vertices on rings, the rim held at a wave of temperatures.
RINGS = 6
at, ring = [(0.0, 0.0)], [0]
for r in range(1, RINGS + 1):
    for j in range(6 * r):
        angle = 2 * np.pi * j / (6 * r)
        at.append((r * np.cos(angle), r * np.sin(angle)))
        ring.append(r)
at, ring = np.array(at), np.array(ring)
vertex = lambda r, j: 0 if r == 0 else 1 + 3 * r * (r - 1) + j % (6 * r)
triangles = []
for r in range(1, RINGS + 1):
    for sector in range(6):
        for j in range(r):
            inner, outer = vertex(r - 1, sector * (r - 1) + j), sector * r + j
            triangles.append((vertex(r, outer), vertex(r, outer + 1), inner))
            if j < r - 1:
                triangles.append((inner, vertex(r, outer + 1), vertex(r - 1, sector * (r - 1) + j + 1)))
save("disc_triangles", np.array(triangles, dtype=np.int32))
near = sorted({(t[i], t[j]) for t in triangles for i in range(3) for j in range(3) if i != j})
mi, mj = (np.array(p) for p in zip(*near))
mtx("disc", mi, mj, (len(at), len(at)))
save("disc_at", at)
held = save("disc_held", ring == RINGS)
start = save("disc_start", np.where(held, np.cos(2 * np.arctan2(at[:, 1], at[:, 0])), 0.0))
c = adjacency(mi, mj, (len(at), len(at))).multiply(0).tocsr()
c = sp.coo_matrix((1 / np.linalg.norm(at[mi] - at[mj], axis=1), (mi, mj)), c.shape).tocsr()
t, dt, steps = start.copy(), 0.05, 200
for _ in range(steps):
    rate = c @ t - np.asarray(c.sum(axis=1)).ravel() * t
    t = np.where(held, t, t + dt * rate)
save("disc_temperature", t)

# A wave on the same disc, from a bump in the middle.
bump = save("wave_start", np.exp(-(at ** 2).sum(axis=1)))
L = adjacency(mi, mj, (len(at), len(at)))
lap = lambda u: L @ u - np.asarray(L.sum(axis=1)).ravel() * u
u, v, speed, dt, steps = bump.copy(), np.zeros(len(at)), 0.5, 0.1, 100
for _ in range(steps):
    half = v + 0.5 * dt * speed ** 2 * lap(u)
    u = u + dt * half
    v = half + 0.5 * dt * speed ** 2 * lap(u)
save("wave_u", u)
save("wave_v", v)
save("wave_energy", np.float64(0.5 * (v * v).sum() + 0.5 * speed ** 2 * (0.5 * (u[mj] - u[mi]) ** 2).sum()))

# A system with the disc's Laplacian plus the identity.
M = (sp.diags(np.asarray(L.sum(axis=1)).ravel() + 1) - L).tocoo()
mtx("system", M.row, M.col, M.shape, [float(v) for v in M.data])
rhs = save("cg_b", wave((len(at),), 0.37))
save("cg_x", spl.spsolve(M.tocsc(), rhs))

# Components of a graph with several, each edge in both directions.
P = 60
cs = [(i, (i * i + 1) % P) for i in range(0, P, 3)] + [(i, (i + 12) % P) for i in range(0, P, 5)]
cs += [(b, a) for a, b in cs]
ci, cj = (np.array(p) for p in zip(*cs))
mtx("islands", ci, cj, (P, P))
count, label = connected_components(adjacency(ci, cj, (P, P)), directed=False)
save("components", np.array([np.flatnonzero(label == label[i]).min() for i in range(P)]))
save("components_count", np.int64(count))
