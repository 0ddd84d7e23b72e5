"""Prints shape, type and SHA-256 of a slice, in C order, of an array read by zarr-python.

    python hash_slice.py STORE ARRAY START:STOP:STEP,...
"""

import hashlib
import json
import sys

import zarr

path, array, ranges = sys.argv[1:]
selection = tuple(
    slice(*(int(n) if n else None for n in part.split(":"))) if ":" in part else int(part)
    for part in ranges.split(",")
)
values = zarr.open_group(path, mode="r")[array][selection]
digest = hashlib.sha256(values.tobytes("C")).hexdigest()
print(json.dumps({"shape": list(values.shape), "dtype": values.dtype.str, "sha256": digest}))
