"""Opens a Zarr group with xarray by its consolidated metadata, times decoded; prints what it holds as JSON.

    python open_dataset.py STORE
"""

import json
import sys
import warnings

import xarray
import zarr

warnings.simplefilter("error", RuntimeWarning)  # xarray warns when consolidated metadata are missing

store = zarr.storage.ZipStore(sys.argv[1], mode="r") if sys.argv[1].endswith(".zip") else sys.argv[1]
with xarray.open_zarr(store, consolidated=True, chunks=None) as dataset:
    described = {
        name: {
            "dimensions": list(variable.dims),
            "shape": list(variable.shape),
            "dtype": str(variable.dtype),
            "chunks": list(variable.encoding["chunks"]),
        }
        for name, variable in dataset.variables.items()
    }
    times = [str(dataset.time.values[i].astype("datetime64[s]")) for i in (0, -1)]
    warmest = dataset.t2m.mean("time").max().item()
print(json.dumps({"variables": described, "attributes": dict(dataset.attrs), "times": times, "warmest": warmest}))
