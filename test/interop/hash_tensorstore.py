"""Prints the SHA-256, in C order and little-endian, of arrays in a directory or a zip read by tensorstore.

    python hash_tensorstore.py STORE ARRAY...
"""

import hashlib
import json
import sys

import numpy
import tensorstore

store, *arrays = sys.argv[1:]
digests = {}
for array in arrays:
    if store.endswith(".zip"):
        kvstore = {"driver": "zip", "base": {"driver": "file", "path": store}, "path": f"{array}/"}
    else:
        kvstore = {"driver": "file", "path": f"{store}/{array}/"}
    values = tensorstore.open({"driver": "zarr", "kvstore": kvstore}, read=True).result().read().result()
    little = numpy.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    digests[array] = hashlib.sha256(little.tobytes("C")).hexdigest()
print(json.dumps(digests))
