"""Prints shape, chunks and SHA-256 of an array in a zip, read by zarr-python row by row.

    python hash_zip.py ZIP
"""

import hashlib
import json
import sys

import zarr

store = zarr.storage.ZipStore(sys.argv[1], mode="r")
array = zarr.open_array(store, mode="r")
digest = hashlib.sha256()
rows = array.chunks[0]
for start in range(0, array.shape[0], rows):
    digest.update(array[start : start + rows].tobytes("C"))
print(json.dumps({"shape": list(array.shape), "chunks": list(array.chunks), "sha256": digest.hexdigest()}))
