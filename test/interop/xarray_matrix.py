"""Datasets of every kind in both formats, and whether two stores are the same to xarray.

xarray_matrix.py make FOLDER         writes NAME.v2.zarr and NAME.v3.zarr for each dataset; prints their names
xarray_matrix.py compare JOBS        JOBS is a JSON list of {"a", "b", "isel", "mask_a", "mask_b", "decode"}; prints a list of
                                     what differs for each
xarray_matrix.py missing STORE...    prints how many items of each variable are missing, by store
"""

import json
import sys
import warnings

import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")

ENCODINGS = ["_FillValue", "missing_value", "dtype", "scale_factor", "add_offset", "units", "calendar"]


def numbers():
    x = np.arange(12)
    kinds = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
    variables = {kind: ("x", (x % 5).astype(kind)) for kind in kinds}
    floats = {f"{kind}_nan": ("x", np.where(x % 3 == 0, np.nan, x).astype(kind)) for kind in ["f4", "f8"]}
    big = {"u8_big": ("x", np.array([2**64 - 1, 0] * 6, "u8")), "i8_big": ("x", np.array([-(2**63), 0] * 6))}
    data = xr.Dataset({**variables, **floats, **big, "bool": ("x", x % 2 == 0)}, {"x": x})
    none = {"f4": {"_FillValue": None}, "f8": {"_FillValue": None}}
    chosen = {"i2": {"_FillValue": -999}, "u1": {"_FillValue": 255}, "f8_nan": {"_FillValue": 1e20}}
    own = {"u8_big": {"_FillValue": 2**64 - 1}, "i8_big": {"_FillValue": -(2**63)}}
    return data, {**none, **chosen, **own}


def packed():
    x = np.linspace(-3, 8, 30).reshape(5, 6)
    data = xr.Dataset(
        {
            "plain": (("y", "x"), np.round(x, 1)),
            "masked": (("y", "x"), np.where(x > 6, np.nan, np.round(x, 1))),
            "zero": (("y", "x"), np.where(x < -1, np.nan, np.round(x))),
            "missing": (("y", "x"), np.where(x > 4, np.nan, np.round(x))),
        }
    )
    chunks = {"chunks": (2, 3)}
    return data, {
        "plain": {"dtype": "i2", "scale_factor": 0.1, "add_offset": 2.0, **chunks},
        "masked": {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -999, **chunks},
        "zero": {"dtype": "u1", "add_offset": -2.0, "_FillValue": 0, **chunks},
        "missing": {"dtype": "f4", "_FillValue": -1.0, "missing_value": -1.0, **chunks},
    }


def text():
    return (
        xr.Dataset(
            {
                "fixed": ("x", np.array(["a", "", "äöü"])),
                "bytes": ("x", np.array([b"a", b"", b"abc"])),
                "variable": ("x", np.array(["a", "", "日本"], dtype=object)),
            }
        ),
        {},
    )


def times():
    stamps = np.array(["2000-01-01T03", "NaT", "2000-02-01"], "M8[ns]")
    whole = np.array(["2000-01-01", "2000-01-02", "2000-01-05"], "M8[ns]")
    seconds = np.array([1, 2, 90], "m8[s]").astype("m8[ns]")
    data = xr.Dataset(
        {
            "nat": ("x", stamps),
            "hours": ("x", stamps),
            "days": ("x", whole),
            "lead": ("x", seconds),
        }
    )
    return data, {
        "hours": {"units": "hours since 1999-01-01", "dtype": "f8"},
        "days": {"units": "days since 1970-01-01", "dtype": "i4", "calendar": "standard"},
    }


def calendars():
    units = {"units": "days since 2000-02-27"}
    names = ["noleap", "360_day", "julian", "proleptic_gregorian"]
    stamps = {f"c_{name}": ("time", np.arange(4), {**units, "calendar": name}) for name in names}
    hours = np.array([0, 6, np.nan, 18])
    missing = {"gaps": ("time", hours, {"units": "hours since 1850-01-01", "calendar": "noleap"})}
    return xr.decode_cf(xr.Dataset({**stamps, **missing})), {}


def geozarr():
    crs = {"grid_mapping_name": "latitude_longitude", "crs_wkt": "GEOGCS[]", "GeoTransform": "0 1 0 0 0 -1"}
    _crs = {"_CRS": {"wkt": "GEOGCRS[]", "url": "http://www.opengis.net/def/crs/EPSG/0/4326"}}
    values = np.arange(12, dtype="i2").reshape(3, 4)
    holes = np.where(values > 8, np.nan, values)
    data = xr.Dataset(
        {
            "red": (("y", "x"), holes, {"grid_mapping": "spatial_ref", **_crs}),
            "mask": (("y", "x"), values, {"grid_mapping": "spatial_ref: y x"}),
            "spatial_ref": ((), 0, crs),
        },
        {"y": ("y", [50.0, 49.0, 48.0], {"axis": "Y"}), "x": ("x", np.arange(4.0), {"axis": "X"})},
        {"Conventions": "CF-1.11"},
    )
    return data, {"red": {"dtype": "i2", "_FillValue": -9999}}


def flags():
    x = np.arange(6)
    seconds = np.array([1, 2, 90, "NaT", 5, 6], "m8[s]").astype("m8[ns]")
    data = xr.Dataset(
        {
            "bool": ("x", x % 2 == 0),
            "bool_scalar": ((), True),
            "bool_chunks": (("x", "y"), np.arange(12).reshape(6, 2) % 3 == 0),
            "span": ("x", seconds),
            "span_units": ("x", seconds),
            "stamp": ((), np.datetime64("2001-02-03T04", "ns")),
        }
    )
    return data, {"bool_chunks": {"chunks": (2, 2)}, "span_units": {"units": "hours", "dtype": "f8"}}


def coordinates():
    lat = np.array([-45.0, 0.0, 45.0])
    data = xr.Dataset(
        {
            "t": (("time", "lat"), np.arange(12.0).reshape(4, 3), {"grid_mapping": "crs", "cell_methods": "time: mean"}),
            "n": (("time", "lat"), np.arange(12, dtype="i2").reshape(4, 3)),
            "time_bnds": (("time", "nv"), np.arange(8.0).reshape(4, 2)),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
            "height": ((), 2.0),
        },
        {
            "time": ("time", np.arange(4), {"bounds": "time_bnds", "units": "days since 2000-01-01"}),
            "lat": ("lat", lat, {"units": "degrees_north", "_note": "true"}),
            "step": ((), 0),
        },
        {"title": "coordinates"},
    )
    bare = {"_FillValue": None}
    return xr.decode_cf(data), {"lat": bare, "time_bnds": bare}


def sparse():
    zeros = np.zeros((8, 8))
    some = zeros.copy()
    some[0, 0] = 5
    chunks = {"chunks": (2, 4)}
    return xr.Dataset(
        {
            "i2": (("y", "x"), some.astype("i2")),
            "packed": (("y", "x"), some),
            "nan": (("y", "x"), np.where(some == 0, np.nan, some)),
            "float": (("y", "x"), some),
            "bare": (("y", "x"), np.where(some == 0, np.nan, some)),
            "bool": (("y", "x"), some != 0),
        }
    ), {
        "i2": chunks,
        "packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1, **chunks},
        "nan": chunks,
        "float": {"_FillValue": -9.0, **chunks},
        "bare": {"_FillValue": None, **chunks},
        "bool": chunks,
    }


def tree():
    data, encoding = coordinates()
    more, packing = packed()
    nodes = {"/": data, "/forecast": more, "/forecast/empty": xr.Dataset({"only": ((), 3)})}
    station = xr.Dataset({"level": ("z", np.arange(3.0))})
    nodes = {**nodes, "/station": station, "/station/names": xr.Dataset({"code": ((), 7)})}
    return xr.DataTree.from_dict(nodes), {"/": encoding, "/forecast": packing}


DATASETS = [numbers, packed, text, times, calendars, geozarr, flags, coordinates, sparse, tree]


def make(folder):
    for maker in DATASETS:
        data, encoding = maker()
        for format in (2, 3):
            data.to_zarr(f"{folder}/{maker.__name__}.v{format}.zarr", zarr_format=format, encoding=encoding)
    return [maker.__name__ for maker in DATASETS]


def opened(store, mask=None, decode=True):
    root = zarr.open_group(store, mode="r")
    paths = ["", *sorted(path for path, node in root.members(None) if isinstance(node, zarr.Group))]
    options = {"decode_cf": decode, "use_zarr_fill_value_as_mask": mask, "chunks": None}
    return {path: xr.open_zarr(store, group=path or None, **options).load() for path in paths}


def differences(job):
    a = opened(job["a"], job.get("mask_a"), job.get("decode", True))
    b = opened(job["b"], job.get("mask_b"), job.get("decode", True))
    found = []
    if set(a) != set(b):
        return [f"groups: {sorted(a)} and {sorted(b)}"]
    for path, left in a.items():
        if "isel" in job:
            left = left.isel({name: slice(*ends) for name, ends in job["isel"].items()}, missing_dims="ignore")
            left = moved(left, job["isel"])
        try:
            xr.testing.assert_identical(left, b[path])
        except AssertionError as error:
            found.append(f"{path}: {error}")
        for name in left.variables:
            for key in ENCODINGS:
                one, other = (data[name].encoding.get(key) for data in (left, b[path]))
                if not same(one, other):
                    found.append(f"{path} {name}: {key} {one!r} and {other!r}")
    return found


def moved(data, isel):
    """With the origin of rasters where the part begins, as rioxarray recalculates it and xarray does not."""
    data = data.copy(deep=True)
    for name, variable in data.variables.items():
        if "GeoTransform" in variable.attrs:
            x, dx, rx, y, ry, dy = map(float, variable.attrs["GeoTransform"].split())
            column, row = (isel.get(axis, [0])[0] for axis in "xy")
            corner = [x + column * dx + row * rx, dx, rx, y + column * ry + row * dy, ry, dy]
            data[name].attrs["GeoTransform"] = " ".join(f"{number:g}" for number in corner)
    return data


def same(a, b):
    if a is None or b is None:
        return a is b
    if isinstance(a, np.dtype) or isinstance(b, np.dtype):
        return a == b
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")


def missing(stores):
    counts = {}
    for store in stores:
        (data,) = opened(store).values()
        counts[store] = {name: int(variable.isnull().sum()) for name, variable in data.variables.items()}
    return counts


def run(command, *arguments):
    if command == "make":
        return make(arguments[0])
    if command == "compare":
        with open(arguments[0]) as jobs:
            return [differences(job) for job in json.load(jobs)]
    return missing(arguments)


print(json.dumps(run(*sys.argv[1:])))
