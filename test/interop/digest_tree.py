"""Prints the tree of digests of a group read by zarr-python, as docs/digest-tree.md defines it.

    python digest_tree.py STORE
"""

import hashlib
import itertools
import json
import math
import sys

import zarr


def digest(what, lines, *parts):
    header = "".join(f"{line}\n" for line in [f"zarr-tree-1 {what}", *lines])
    return hashlib.sha256(header.encode() + b"".join(parts)).digest()


def named(name):
    return f"{len(name.encode())} {name}"


def type_name(dtype):
    size = dtype.itemsize
    names = {"T": "string", "O": "string", "U": f"U{size // 4}", "S": f"S{size}", "V": f"r{8 * size}"}
    return names.get(dtype.kind, dtype.name)


def item_bytes(values, name):
    if name != "string":
        return values.astype(values.dtype.newbyteorder("<")).tobytes("C")
    texts = [text.encode() for text in values.ravel()]
    return b"".join(len(text).to_bytes(8, "little") + text for text in texts)


def array_hash(array):
    name = type_name(array.dtype)
    left = max(1, 2**20 // (64 if name == "string" else array.dtype.itemsize))
    cell = []
    for n in reversed(array.shape):
        cell.insert(0, max(1, min(n, left)))
        left //= cell[0]
    hashes = []
    for coords in itertools.product(*(range(math.ceil(n / c)) for n, c in zip(array.shape, cell))):
        values = array[tuple(slice(at * c, (at + 1) * c) for at, c in zip(coords, cell))]
        lines = [",".join(map(str, coords)), ",".join(map(str, values.shape)), named(name)]
        hashes.append(digest("cell", lines, item_bytes(values, name)))
    while len(hashes) > 1:
        hashes = [digest("node", [], *hashes[at : at + 16]) for at in range(0, len(hashes), 16)]
    lines = [",".join(map(str, array.shape)), ",".join(map(str, cell)), named(name)]
    return digest("array", lines, *hashes)


found = {path: array_hash(node) for path, node in zarr.open_group(sys.argv[1], mode="r").members(None)
         if isinstance(node, zarr.Array)}
parts = [f"{named(path)}\n".encode() + found[path] for path in sorted(found, key=str.encode)]
print(json.dumps({"sha256": digest("hierarchy", [], *parts).hex(),
                  "arrays": {path: one.hex() for path, one in found.items()}}))
