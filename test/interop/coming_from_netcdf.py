"""Prints whether a NetCDF file and a Zarr group have the same values and the same chunks, by variable."""

import json
import sys

import xarray

netcdf, zarr = sys.argv[1:]
ours = xarray.open_zarr(zarr, consolidated=False)
theirs = xarray.open_dataset(netcdf)
names = {*ours.variables, *theirs.variables}
print(json.dumps({
    name: [
        bool(ours[name].equals(theirs[name])),
        list(ours[name].encoding["chunks"]) == list(theirs[name].encoding["chunksizes"] or theirs[name].shape),
    ]
    for name in names
}))
