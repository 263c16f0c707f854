"""Prints the constants of the math definitions. Needs mpmath; takes half a minute.

A polynomial is fitted in 60 digits to be smallest in relative error (least squares, reweighted towards the largest
errors after Lawson), and its coefficients are rounded one at a time, lowest first, the others refitted in between.
"""

import struct

from mpmath import cos, exp, floor, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.dps = 60


def rounded(value, width):
    value = float(value)
    return mpf(struct.unpack("<f", struct.pack("<f", value))[0] if width == 32 else value)


def solve(points, fixed, count, rounds):
    """Coefficients with the first ones given, `count` free; points are (t, value, weight)."""
    start = len(fixed)
    lawson = [mpf(1)] * len(points)
    for _ in range(rounds):
        a, b = matrix(count, count), matrix(count, 1)
        for (t, value, weight), extra in zip(points, lawson):
            rest = value - sum(c * t**j for j, c in enumerate(fixed))
            row = [t ** (start + j) for j in range(count)]
            for i in range(count):
                b[i] += extra / weight**2 * row[i] * rest
                for j in range(count):
                    a[i, j] += extra / weight**2 * row[i] * row[j]
        coefficients = fixed + list(lu_solve(a, b))
        errors = [abs(v - sum(c * t**j for j, c in enumerate(coefficients))) / w for t, v, w in points]
        mean = sum(e * x for e, x in zip(errors, lawson)) / len(points)
        lawson = [x * e / mean for e, x in zip(errors, lawson)]
    return coefficients


def fit(name, function, weight, low, high, degree, width):
    n = 6 * (degree + 1)
    ts = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    points = [(t, function(t), weight(t)) for t in ts]
    fixed = []
    for free in range(degree + 1, 0, -1):
        coefficients = solve(points, fixed, free, 12 if fixed else 40)
        fixed.append(rounded(coefficients[len(fixed)], width))
    checks = [low + (high - low) * mpf(i) / 1000 + mpf("1e-9") for i in range(1000)]
    worst = max(abs(function(t) - sum(c * t**j for j, c in enumerate(fixed))) / weight(t) for t in checks)
    print(f"{name} f{width}, error below 2^{float(log(worst, 2)):.1f}:")
    print("    " + ", ".join(repr(float(c)) for c in fixed))


def floored(x, least):
    """Keeps a weight that divides by x finite near zero."""
    return max(x, mpf(least))


def exp_tail(r):
    return mpf(1) / 2 + r / 6 if abs(r) < mpf("1e-15") else (exp(r) - 1 - r) / r**2


def log_tail(z):
    s = sqrt(z)
    return mpf(2) / 3 + z * 2 / 5 if z < mpf("1e-14") else (log((1 + s) / (1 - s)) - 2 * s) / (s * z)


def pow_tail(z):
    return mpf(2) / 5 + z * 2 / 7 if z < mpf("1e-12") else (log_tail(z) - mpf(2) / 3) / z


def sine_tail(z):
    x = sqrt(z)
    return -mpf(1) / 6 + z / 120 if z < mpf("1e-14") else (sin(x) - x) / (x * z)


def cosine_tail(z):
    return mpf(1) / 24 - z / 720 + z**2 / 40320 if z < mpf("1e-10") else (cos(sqrt(z)) - 1 + z / 2) / z**2


def sine_weight(z):
    return (sin(sqrt(z)) / sqrt(z) if z > 0 else 1) / floored(z, "1e-4")


def main():
    margin = mpf("1.001")
    half = log(2) / 2 * margin
    for width, degree in ((32, 5), (64, 10)):
        fit("exp", exp_tail, lambda r: exp(r) / floored(r**2, "1e-4"), -half, half, degree, width)
    most = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * margin
    for width, degree in ((32, 3), (64, 7)):
        fit("log", log_tail, lambda z: 2 / floored(z, "1e-5"), mpf(0), most, degree, width)
    fit("log for pow", pow_tail, lambda z: 2 / floored(z, "1e-5") ** 2, mpf(0), most, 7, 64)
    most = (pi / 4 * margin) ** 2
    for width, degree in ((32, 3), (64, 6)):
        fit("sin", sine_tail, sine_weight, mpf(0), most, degree, width)
    for width, degree in ((32, 2), (64, 5)):
        fit("cos", cosine_tail, lambda z: cos(sqrt(z)) / floored(z, "1e-4") ** 2, mpf(0), most, degree, width)

    mp.prec = 2000
    turns = 2 / pi
    print("2/π in chunks of 28 bits:")
    for i in range(6):
        chunk = int(floor(turns * mpf(2) ** (28 * (i + 1)))) % 2**28
        print("   ", repr(float(mpf(chunk) / mpf(2) ** (28 * (i + 1)))))
    print("2/π minus its first chunks:")
    for i in range(3, 7):
        print("   ", repr(float(turns - floor(turns * mpf(2) ** (28 * i)) / mpf(2) ** (28 * i))))
    print("2/π · 2^-54 in words of 64 bits:")
    for i in range(19):
        word = int(floor(turns * mpf(2) ** (64 * (i + 1) - 54))) % 2**64
        print(f"    {word:#018x}")
    for name, value in (("ln 2", log(mpf(2))), ("π/2", pi / 2), ("2/3", mpf(2) / 3)):
        print(f"{name}: {float(value)!r} + {float(value - float(value))!r}")


main()
