"""Arrays that CF conventions describe, and whether conversions of their values are what xarray computes itself.

value_cases.py make FOLDER    writes cf.v2.zarr and cf.v3.zarr
value_cases.py compare JOBS   JOBS is a JSON list of {"source", "target", "how", "dtype"}; prints lists of what differs
"""

import json
import sys
import warnings

import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")

PACKING = ["scale_factor", "add_offset", "_Unsigned"]
STORED = ["_FillValue", "missing_value", "valid_range", "valid_min", "valid_max"]


def make(folder):
    x = np.arange(40).reshape(5, 8)
    bits = x.astype("u1") * 6
    variables = {
        "packed": (x.astype("i2"), {"scale_factor": 0.1, "add_offset": 2.0, "_FillValue": 7, "units": "K"}),
        "marked": (x.astype("i2"), {"scale_factor": 0.5, "missing_value": 9}),
        "range": (x.astype("i2"), {"scale_factor": 0.25, "valid_range": [3, 30]}),
        "unsigned": (bits.view("i1"), {"_Unsigned": "true", "scale_factor": 2.0, "_FillValue": -4}),
        "floats": (np.where(x == 5, -9999, x).astype("f4"), {"_FillValue": -9999.0, "valid_max": 30.5}),
        "doubles": (np.where(x == 5, 1e20, x / 3), {"missing_value": 1e20, "units": "m"}),
        "plain": (np.where(x == 5, np.nan, x / 3), {"units": "m"}),
        "counts": (x.astype("i4"), {"_FillValue": -1, "flag_values": [0, 1]}),
    }
    for version in (2, 3):
        dataset = xr.Dataset(
            {
                name: (("y", "x"), values, {key: typed(key, value, values) for key, value in attributes.items()})
                for name, (values, attributes) in variables.items()
            },
            {"x": ("x", np.arange(8.0), {"units": "m"})},
        )
        encoding = {name: {"chunks": (2, 3)} for name in variables}
        dataset.to_zarr(f"{folder}/cf.v{version}.zarr", zarr_format=version, encoding=encoding, consolidated=True)


def typed(key, value, values):
    return values.dtype.type(value) if key in STORED and np.isscalar(value) else value


def opened(store, **options):
    return xr.open_zarr(store, chunks=None, decode_times=False, consolidated=False, **options)


def raw(store, name):
    return np.asarray(zarr.open_array(f"{store}/{name}")[...])


def in_range(values, stored, attributes):
    low, high = attributes.get("valid_range", [attributes.get("valid_min"), attributes.get("valid_max")])
    if low is not None:
        values = np.where(stored < low, np.nan, values)
    return values if high is None else np.where(stored > high, np.nan, values)


def compare(job):
    how, dtype, names = job["how"], job.get("dtype"), job.get("names")
    source, target = opened(job["source"]), opened(job["target"])
    found = []
    for name in names or list(source.data_vars):
        before, after = source[name], target[name]
        was, now = raw(job["source"], name), raw(job["target"], name)
        attributes = {key: value for key, value in before.attrs.items() if key not in PACKING + STORED}
        kept = {key: value for key, value in after.attrs.items() if key not in PACKING + STORED}
        if kept != attributes:
            found.append(f"{name}: attributes {attributes} became {kept}")
        decoded = in_range(before.values, was, before.attrs) if how in ("unpack", "pack") else before.values
        if how == "unpack":
            wanted = decoded if dtype is None else decoded.astype(dtype)
            if not np.array_equal(now, wanted, equal_nan=True) or (dtype and now.dtype != dtype):
                found.append(f"{name}: {now.dtype} are not {wanted.dtype}")
            if not np.array_equal(after.values, wanted, equal_nan=True):
                found.append(f"{name}: read as other values")
            if any(key in after.attrs or key in after.encoding for key in PACKING + STORED[1:]):
                found.append(f"{name}: still packed: {after.attrs} {after.encoding}")
        elif how == "pack":
            keys = ["scale_factor", "add_offset", "_FillValue"]
            encoding = {"dtype": dtype, **{key: after.encoding[key] for key in keys}}
            variable = xr.Variable(before.dims, decoded.astype("f8"), encoding=encoding)
            wanted = xr.conventions.encode_cf_variable(variable).values
            if not np.array_equal(now, wanted) or now.dtype != dtype:
                found.append(f"{name}: packed into {now.ravel()[:5]}, not {wanted.ravel()[:5]}")
            if not np.allclose(after.values, decoded, atol=encoding["scale_factor"] * 0.51, equal_nan=True):
                found.append(f"{name}: {after.values.ravel()[:5]} for {decoded.ravel()[:5]}")
        else:
            if not np.array_equal(now, was.astype(dtype), equal_nan=True) or now.dtype != dtype:
                found.append(f"{name}: {now.dtype} of other values")
            if not np.array_equal(np.isnan(after.values), np.isnan(decoded)):
                found.append(f"{name}: {np.isnan(after.values).sum()} missing, not {np.isnan(decoded).sum()}")
            if not np.allclose(after.values, decoded, rtol=1e-6, equal_nan=True):
                found.append(f"{name}: read as other values")
    return found


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
        print("[]")
    else:
        with open(sys.argv[2]) as file:
            print(json.dumps([compare(job) for job in json.load(file)]))
