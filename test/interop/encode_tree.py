"""Writes Zarr v2 arrays of integers in either order through filters that store values, and prints their chunks' shape."""

import json
import sys

import numcodecs
import numpy as np
import zarr

folder = sys.argv[1]
values = np.arange(35, dtype="<i4").reshape(5, 7)
for order in "CF":
    for name, codec in {"json2": numcodecs.JSON(), "msgpack2": numcodecs.MsgPack()}.items():
        array = zarr.create_array(
            f"{folder}/{name}-{order}.zarr",
            shape=values.shape,
            chunks=(2, 3),
            dtype=values.dtype,
            zarr_format=2,
            order=order,
            filters=[codec],
            compressors=None,
        )
        array[:] = values
print(json.dumps(values.ravel().tolist()))
