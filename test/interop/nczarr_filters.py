"""Writes an array with each filter that netCDF4-python can write to Zarr, as NCZarr.

    python nczarr_filters.py FOLDER
"""

import json
import sys
from pathlib import Path

import netCDF4
import numpy

FILTERS = {
    "zlib": {"zlib": True, "shuffle": True},
    "zlib-plain": {"zlib": True, "shuffle": False},
    "fletcher32": {"zlib": True, "shuffle": True, "fletcher32": True},
    "checksum": {"fletcher32": True},
    "zstd": {"compression": "zstd"},
    "bzip2": {"compression": "bzip2"},
    **{f"blosc-{name}": {"compression": f"blosc_{name}", "blosc_shuffle": 1} for name in ("lz", "lz4", "zlib", "zstd")},
}


def main(folder):
    names = {}
    for dtype in ("i1", "i2", "f4", "f8"):
        for name, filters in FILTERS.items():
            path = Path(folder) / f"{name}-{dtype}.zarr"
            values = (numpy.arange(6000) % 100).astype(dtype)
            try:
                with netCDF4.Dataset(f"file://{path}#mode=nczarr,file", "w") as data:
                    data.createDimension("x", len(values))
                    data.createVariable("v", dtype, ("x",), chunksizes=(1000,), **filters)[:] = values
                with netCDF4.Dataset(f"file://{path}#mode=nczarr,file") as data:
                    assert (data["v"][:] == values).all()
            except RuntimeError:  # a plugin that this build lacks
                continue
            names[path.name] = [int(value) for value in values]
    print(json.dumps(names))


main(sys.argv[1])
