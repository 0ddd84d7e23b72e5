"""Writes datasets in two parts, and what xarray makes of them by appending; compares zarrflow's result with that.

    python append_cases.py write FOLDER
    python append_cases.py compare FOLDER
"""

import json
import sys
from pathlib import Path

import numpy
import xarray

FORMATS = {"v2": 2, "v3": 3}


def grid(kind):
    """A dataset of 30 times, and the encoding that all of it has."""
    numbers = numpy.random.default_rng(1).normal(280, 20, (30, 7, 5)).astype("float32")
    numbers[3, 2:4] = numpy.nan
    numbers[25, :, 1] = numpy.nan
    time = xarray.date_range("2001-01-01", periods=30, freq="6h", use_cftime=kind == "noleap", calendar="noleap" if kind == "noleap" else "standard")
    coords = {"time": time, "lat": numpy.linspace(90, -90, 7), "lon": numpy.arange(5.0), "height": 2.0}
    data = xarray.Dataset({"t2m": (("time", "lat", "lon"), numbers, {"units": "K"})}, coords)
    data["name"] = ("time", numpy.array([f"step {i}" for i in range(30)], dtype=object))
    data["mask"] = (("lat", "lon"), numpy.arange(35).reshape(7, 5) % 2 == 0)
    encoding = {"time": {"units": "hours since 2000-01-01", "dtype": "int64", "chunks": (8,)}, "t2m": {"chunks": (8, 4, 5)}}
    if kind == "packed":
        packing = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}
        encoding["t2m"] |= packing
    return data, encoding


KINDS = ["plain", "packed", "noleap"]


def cases(folder):
    for kind in KINDS:
        for name, zarr_format in FORMATS.items():
            for consolidated in (True, False):
                for cut in (8, 13):
                    yield kind, zarr_format, consolidated, cut, Path(folder) / f"{kind}-{name}-{consolidated}-{cut}"


def write(folder):
    names = []
    for kind, zarr_format, consolidated, cut, at in cases(folder):
        data, encoding = grid(kind)
        options = {"zarr_format": zarr_format, "consolidated": consolidated}
        for place in ("theirs.zarr", "ours.zarr"):
            data.isel(time=slice(0, cut)).to_zarr(at / place, encoding=encoding, **options)
        rest = data.isel(time=slice(cut, None))
        rest.drop_vars(["lat", "lon", "height", "mask"]).to_zarr(at / "theirs.zarr", append_dim="time", **options)
        rest.to_zarr(at / "rest.zarr", encoding=encoding | {"t2m": encoding["t2m"] | {"chunks": (5, 7, 2)}}, **options)
        names.append(at.name)
    return names


def compare(folder):
    differing = {}
    for kind, zarr_format, consolidated, cut, at in cases(folder):
        try:
            for decode in (True, False):
                options = {"consolidated": consolidated, "decode_cf": decode, "chunks": None}
                theirs, ours = [xarray.open_zarr(at / place, **options).load() for place in ("theirs.zarr", "ours.zarr")]
                xarray.testing.assert_identical(theirs, ours)
                if decode:
                    xarray.testing.assert_allclose(ours, grid(kind)[0], atol=0.006)
                for name in theirs.variables:
                    assert theirs[name].encoding["chunks"] == ours[name].encoding["chunks"], name
                    assert theirs[name].dtype == ours[name].dtype, name
        except Exception as error:
            differing[at.name] = str(error)[:600]
    return differing


print(json.dumps({"write": write, "compare": compare}[sys.argv[1]](sys.argv[2])))
