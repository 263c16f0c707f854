"""Prints hard.txt: hard f64 arguments of the math functions and what their values are. Needs mpmath; takes seconds.

A row is a function, the bits of its arguments, and its value as (high + low) * 2^exponent, high and low as bits.
"""

import struct

import mpmath
from mpmath import mp, mpf, pi

mp.prec = 1500

# Worst cases of rounding: arguments whose value is nearest to a number or to the middle between two numbers, from the
# tables of Lefevre and Muller ("Worst cases for correct rounding of the elementary functions in double precision").
WORST = {
    "exp": """
        -0x1.E8BDBFCD9144Ep3 -0x1.71E0B869B5E79p2 -0x1.02393D5976769p1 -0x1.2A9CAD9998262p0 -0x1.CC37EF7DE7501p0
        -0x1.22E24FA3D5CF9p-1 -0x1.DC2B5DF1F7D3Dp-1 -0x1.290EA09E36479p-3 -0x1.A2FEFEFD580DFp-13 -0x1.ED318EFB627EAp-27
        -0x1.4BD46601AE1EFp-31 -0x1.1000000000242p-42 -0x1.2000000000288p-42 -0x1.8000000000012p-48
        -0x1.0000000000001p-51 0x1.FFFFFFFFFFFFFp-53 0x1.FFFFFFFFFFFE0p-48 0x1.7FFE7FFEE0024p-32 0x1.80017FFEDFFDCp-32
        0x1.9E9CBBFD6080Bp-31 0x1.D7A7D893609E5p-26 0x1.BA07D73250DE7p-14 0x1.D77FD13D27FFFp-11 0x1.6A4D1AF9CC989p-8
        0x1.ACCFBE46B4EF0p-1 0x1.ACA7AE8DA5A7Bp0 0x1.D6336A88077AAp0 0x2.85DC78FB8928Cp0 0x1.76E7E5D7B6EACp3
        0x1.A8EAD058BC6B8p3 0x1.1D5C2DAEBE367p4 0x1.C44CE0D716A1Ap4 -0x1.40000000000032p-46 0x1.fffffffffff80p-46
        0x1.1ffffffffffafp-45 0x6.0f52f37aecfd0p0""",
    "log": """
        0x1.0000000000001p0 0x2.0012ECB039C9Cp0 0x6.46A37FD503FDCp0 0x7.78DFECC7F57Fp0 0x9.588CCF24BB9C8p0
        0xA.AF87550D97E4p0 0xC.76F2496CB039p0 0x11.1867637CBD03p0 0x13.D9D7D597A9DDp0 0x17.F3825778AAAFp0
        0x1AC.50B409C8AEEp0 0x1.DE7CD6751029Ap16 0x1.ea71d85cee020p-509 0x1.9476e304cd7c7p-384 0x1.26e9c4d327960p-232
        0x1.613955dc802f8p-35 0x1.62a88613629b6p678""",
    "sin": """
        0x1.E0000000001C2p-20 0x1.598BAE9E632F6p-7 0x1.9283586503FEp-5 0x1.D7BDCD778049Fp-5 0x1.A202B3FB84788p-4
        0x1.D037CB27EE6DFp-3 0x1.D5064E6FE82C5p-3 0x1.FE767739D0F6Dp-2 0x1.D98C4C612718Dp-1 0x1.921FB54442D18p-0
        0x1.6756745770A51p+1""",
    "cos": """
        0x1.8000000000009p-23 0x1.8000000000024p-22 0x1.2000000000F30p-18 0x1.06B505550E6B2p-9 0x1.97CCD3D2C438Fp-6
        0x1.549EC0C0C5AFAp-5 0x1.16E534EE36580p-4 0x1.EFEEF61D39AC2p-3 0x1.FEB1F7920E248p-2 0x1.7CB7648526F99p-1
        0x1.C65A170474549p-1 0x1.6B8A6273D7C21p+0""",
    "tanh": """
        0x1.000b47bdb383fp-9 0x1.0017d47cec425p-12 0x1.002b19915b12bp-7 0x1.004524207fad9p-3 0x1.008054cd28fecp-14
        0x1.00a0f3cf999acp+2 0x1.00aa39615214dp-23 0x1.015bdb2761717p+4 0x1.015cee8026857p+1 0x1.01885ae3c818ap+0
        0x1.02a3ad2ef6f49p-24 0x1.0487b6ec9ca7ap+4 0x1.097519f44243fp+3 0x1.0a402fcc79292p-25 0x1.30fc1931f09c8p+4""",
    "pow": """
        0x1.ffffffffffffcp-1,0x1.fffffffffffffp-2 0x1.ffffffffffffcp-1,-0x1.ffffffffffffdp-2
        0x1.ffffffffffffp-1,-0x1.ffffffffffff6p-3 0x1.ffffffffffff8p-1,-0x1.ffffffffffffbp-3""",
}

FUNCTIONS = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "tanh": mpmath.tanh,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "pow": mpmath.power,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
}

# Overflow, the first denormal, the last result that is not zero; numbers of each size.
ENDS = [709.782712893384, 709.782712893385, -708.3964185322641, -745.1332191019411, -745.1332191019412, 5e-324, 1e-310]
POWERS = [
    (1.0000000000000002, 2.0**61), (1.0000000000000002, -(2.0**61)), (0.9999999999999999, 6e18), (2.0, 1023.9999999999999),
    (2.0, -1074.5), (2.0, -1075.5), (10.0, 308.25471555991674), (0.1, 323.0), (1.7976931348623157e308, -1.0),
    (1e-323, 0.001), (1e-323, -0.95), (1.7976931348623157e308, 1e-320), (3.0, 40.0), (-3.0, 33.0), (-1e-3, 100.0),
]  # fmt: skip


def near_quarter_turns(count):
    """The numbers nearest to multiples of pi/2: of each exponent, by continued fractions; the nearest of all."""
    found = set()
    for e in range(-51, 972):
        x = mpf(2) ** e * 2 / pi
        x0 = x
        q0, q1 = 0, 1
        while True:
            x0 = 1 / (x0 - mpmath.floor(x0))
            a = int(mpmath.floor(x0))
            q0, q1 = q1, a * q1 + q0
            if q1 >= 2**53:
                break
            # A denominator, or the multiple of it that has 53 bits.
            m = q1
            while m < 2**52:
                m *= 2
            if m < 2**53:
                turns = m * x
                found.add((abs(turns - mpmath.nint(turns)), m, e))
    return [float(m) * 2.0**e for _, m, e in sorted(found)[:count]]


def bits(x):
    return format(struct.unpack("<Q", struct.pack("<d", x))[0], "016x")


def row(name, *args):
    value = FUNCTIONS[name](*map(mpf, args))
    m, e = mpmath.frexp(value)
    high = float(m)
    print(name, *map(bits, args), bits(high), bits(float(m - high)), int(e))


def main():
    quarters = near_quarter_turns(40)
    assert quarters[0] == 6381956970095103.0 * 2.0**797, quarters[0]
    for name, text in WORST.items():
        for word in text.split():
            row(name, *map(float.fromhex, word.split(",")))
    for x in quarters + [1e22, 2.0**1023, 1.7976931348623157e308, 1e-200, 1e-310]:
        row("sin", x)
        row("cos", -x)
    for x in ENDS:
        for name in ("exp", "sigmoid", "tanh"):
            row(name, x)
        if x > 0:
            row("log", x)
            row("sqrt", x)
            row("rsqrt", x)
    for x in (0.9999999999999999, 1.0000000000000002, 0.7071067811865475, 1.4142135623730951, 1.7976931348623157e308):
        for name in ("log", "sqrt", "rsqrt"):
            row(name, x)
    for x, y in POWERS:
        row("pow", x, y)


main()
