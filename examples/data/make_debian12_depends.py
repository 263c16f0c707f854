#!/usr/bin/env python3
"""Makes debian12-depends.npz: who depends on whom among Debian 12's packages.

    apt-cache dumpavail | python3 make_debian12_depends.py debian12-depends.npz

The committed file was made from the suites bookworm, bookworm-updates and bookworm-security
(component main, amd64) as of Debian 12.15: 63,681 packages, 245,116 edges.

A node is a package, in byte order of the names. An edge goes from a package to a package it
needs: from Depends and Pre-Depends, the first alternative of each, without version constraints
and architecture qualifiers, kept only if it is itself a package; each pair once, sorted by
(dst, src). Members of the file:

    src        i32 [E]   the package that depends
    dst        i32 [E]   the package depended upon
    num_nodes  i64 []    the number of packages
    names      u8 [L]    the names, UTF-8, one a line, each line closed by a newline

Nothing but Python's standard library is needed; the same input gives the same bytes.
"""

import array
import struct
import sys
import zipfile


def stanzas(lines):
    """Yields each package as a dict of its folded fields."""
    fields, last = {}, None
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if fields:
                yield fields
            fields, last = {}, None
        elif line[0] in " \t":
            if last is not None:
                fields[last] += " " + line.strip()
        else:
            last, _, value = line.partition(":")
            fields[last] = value.strip()
    if fields:
        yield fields


def first_alternatives(field):
    """The bare names of the first alternatives in a relationship field."""
    for group in field.split(","):
        name = group.split("|")[0].split("(")[0].split("[")[0].strip()
        if name:
            yield name.partition(":")[0]


def npy(descr, shape, payload):
    """One .npy file (version 1.0) holding little-endian `payload`."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, shape)
    padding = -(len(header) + 11) % 64
    header = header + " " * padding + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + payload


def little_endian(numbers):
    """The bytes of a list of indices as i32."""
    values = array.array("i", numbers)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    needs = {}
    for package in stanzas(sys.stdin):
        targets = needs.setdefault(package["Package"], set())
        for field in ("Pre-Depends", "Depends"):
            targets.update(first_alternatives(package.get(field, "")))
    names = sorted(needs)
    index = {name: i for i, name in enumerate(names)}
    edges = sorted((index[t], index[p]) for p in names for t in needs[p] if t in index)
    members = {
        "src": npy("<i4", (len(edges),), little_endian([s for _, s in edges])),
        "dst": npy("<i4", (len(edges),), little_endian([d for d, _ in edges])),
        "num_nodes": npy("<i8", (), struct.pack("<q", len(names))),
    }
    text = "".join(name + "\n" for name in names).encode()
    members["names"] = npy("|u1", (len(text),), text)
    with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in members.items():
            # A fixed date: the same input gives the same file.
            out.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    print(f"{len(names):,} packages, {len(edges):,} edges")


if __name__ == "__main__":
    main()
