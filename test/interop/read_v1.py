"""What zarr-python 1.1.0 reads from arrays of Zarr v1: a JSON object of each path's array."""

import collections
import collections.abc
import hashlib
import json
import sys

# Where Python had it in 2016.
collections.MutableMapping = collections.abc.MutableMapping

import numpy
import zarr
import zarr.blosc  # left out where it was not compiled

assert zarr.__version__ == "1.1.0"


def describe(path):
    array = zarr.Array(zarr.DirectoryStore(path), readonly=True)
    items = array[...]
    little = numpy.ascontiguousarray(items.astype(items.dtype.newbyteorder("<")))
    return {
        "shape": array.shape,
        "chunks": array.chunks,
        "order": array.order,
        "compression": array.compression,
        "attributes": dict(array.attrs),
        "initialized": array.initialized,
        "sha256": hashlib.sha256(little.tobytes()).hexdigest(),
    }


print(json.dumps({path: describe(path) for path in sys.argv[1:]}))
