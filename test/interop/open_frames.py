"""Opens a Zarr group of frames with xarray; prints what it holds, and what zarr-python sees of it, as JSON.

    python open_frames.py STORE
"""

import hashlib
import json
import sys

import numpy
import xarray
import zarr

is_zip = sys.argv[1].endswith(".zip")
store = zarr.storage.ZipStore(sys.argv[1], mode="r") if is_zip else sys.argv[1]
with xarray.open_zarr(store, chunks=None) as dataset:
    frames = dataset.frames
    described = {
        "variables": sorted(dataset.variables),
        "attributes": dict(dataset.attrs),
        "dimensions": list(frames.dims),
        "shape": list(frames.shape),
        "dtype": str(frames.dtype),
        "units": frames.attrs["units"],
        "times": [str(time.astype("datetime64[h]")) for time in dataset.time.values[[0, -1]]],
        "labels": [str(label) for label in dataset.label.values],
        "at": frames.sel(time=dataset.time.values[-1]).isel(y=-1, x=0).item(),
        "sha256": hashlib.sha256(numpy.ascontiguousarray(frames.values).tobytes()).hexdigest(),
    }
store = zarr.storage.ZipStore(sys.argv[1], mode="r") if is_zip else sys.argv[1]
group = zarr.open_group(store, mode="r")
described["arrays"] = {name: [list(array.chunks), array.nchunks_initialized] for name, array in group.arrays()}
print(json.dumps(described))
