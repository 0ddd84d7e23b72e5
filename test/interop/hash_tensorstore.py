"""Prints the SHA-256, in C order and little-endian, of arrays in a directory or a zip read by tensorstore.

    python hash_tensorstore.py STORE ARRAY...

An array that has a zarr.json is read as v3, any other as v2. Of one that cannot be read it prints why.
"""

import hashlib
import json
import os
import sys

import numpy
import tensorstore

store, *arrays = sys.argv[1:]


def digest(array):
    if store.endswith(".zip"):
        kvstore = {"driver": "zip", "base": {"driver": "file", "path": store}, "path": f"{array}/"}
    else:
        kvstore = {"driver": "file", "path": f"{store}/{array}/"}
    driver = "zarr3" if os.path.exists(f"{store}/{array}/zarr.json") else "zarr"
    values = tensorstore.open({"driver": driver, "kvstore": kvstore}, read=True).result().read().result()
    little = numpy.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    return hashlib.sha256(little.tobytes("C")).hexdigest()


digests = {}
for array in arrays:
    try:
        digests[array] = digest(array)
    except Exception as error:
        digests[array] = f"{type(error).__name__}: {error}"
print(json.dumps(digests))
