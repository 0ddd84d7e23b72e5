"""Writes datasets that are packed in many ways, and compares files of their slices with xarray's own decoding.

    table_cases.py make FOLDER        writes packed.v2.zarr and packed.v3.zarr; prints the names of their variables
    table_cases.py compare JOBS       JOBS is a JSON list of {"store", "variables", "isel", "file", "format",
                                      "decode"}; prints a list of what differs for each
"""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import xarray as xr

warnings.simplefilter("ignore")


def packed():
    rng = np.random.default_rng(7)
    made = {}
    for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
        kind = np.dtype(dtype).kind
        values = np.append(rng.integers(-100 if kind != "u" else 0, 100, 9), [7, -9 if kind != "u" else 9, 0]).astype(dtype)
        fill = values.dtype.type(7)
        ways = {
            "plain": {},
            "fill": {"_FillValue": fill},
            "missing": {"missing_value": fill},
            "both": {"missing_value": fill, "_FillValue": fill},
            "list": {"missing_value": [7, 0]},
            "scale": {"scale_factor": 0.1},
            "scale_fill": {"scale_factor": 0.1, "_FillValue": fill},
            "offset": {"add_offset": 273.15},
            "whole_offset": {"add_offset": 3},
            "scale_offset": {"scale_factor": 0.01, "add_offset": 273.15},
            "scale_offset_fill": {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": fill},
            "scale_offset_missing": {"scale_factor": 2.0, "add_offset": 1.0, "missing_value": fill},
        }
        if kind in "iu":
            other = {"_Unsigned": "true" if kind == "i" else "false"}
            ways |= {
                "whole_scale": {"scale_factor": 3},
                "other": other,
                # Of 64 bits xarray compares them as doubles, so that -7 is -9 as well.
                **({} if dtype == "i8" else {"other_fill": {**other, "_FillValue": values.dtype.type(-9 if kind == "i" else 9)}}),
                "other_scale": {**other, "scale_factor": 0.5},
                "other_scale_fill": {**other, "scale_factor": 0.5, "add_offset": -1.0, "_FillValue": fill},
            }
        for way, attrs in ways.items():
            made[f"{dtype}_{way}"] = ("x", values, attrs)
    seconds = np.arange(12)
    for name, units in {"days": "days since 2000-02-27", "seconds": "seconds since 1970-01-01T00:00:00Z"}.items():
        for dtype in ["i4", "i8", "f4", "f8"]:
            values = (seconds * (1 if dtype[0] == "i" else 0.25)).astype(dtype)
            made[f"time_{name}_{dtype}"] = ("x", values, {"units": units})
            made[f"time_{name}_{dtype}_fill"] = ("x", values, {"units": units, "_FillValue": values.dtype.type(2)})
            made[f"time_{name}_{dtype}_scale"] = ("x", values, {"units": units, "scale_factor": 2.0})
    # None of these is missing: xarray gives the reference for a missing time of cftime, or fails.
    for calendar in ["noleap", "360_day", "julian", "all_leap", "proleptic_gregorian"]:
        made[f"calendar_{calendar}"] = ("x", seconds, {"units": "hours since 2000-02-28", "calendar": calendar})
    made["nanoseconds"] = ("x", seconds * 7 + 3, {"units": "nanoseconds since 2020-01-01"})
    made["old"] = ("x", seconds, {"units": "days since 1582-10-01", "calendar": "standard"})
    made["future"] = ("x", seconds * 400, {"units": "days since 2990-01-01"})
    made["span"] = ("x", seconds, {"units": "hours", "dtype": "timedelta64[ns]"})
    made["no_span"] = ("x", seconds, {"units": "hours"})
    made["truth"] = ("x", (seconds % 2).astype("i1"), {"dtype": "bool"})
    made["bool"] = ("x", seconds % 3 == 0)
    made["complex"] = ("x", (seconds + 1j * seconds[::-1]).astype("c8"))
    made["words"] = ("x", np.array(['a,b', '', 'say "x"', 'two\nlines', " blank ", "Zürich", "日本", "null", "NaN", "1", "x;y", "z"]))
    made["objects"] = ("x", np.array(["one", "", "drei"] * 4, dtype=object))
    coords = {"x": np.arange(12) * 0.5, "height": ((), 2.0), "label": ("x", np.array(list("abcdefghijkl"))), "run": ("x", seconds * 2)}
    return made, coords


def make(folder):
    made, coords = packed()
    for fmt in (2, 3):
        data = xr.Dataset(made, coords)
        bare = {name: {"chunks": (5,)} for name in made}
        for name, variable in data.variables.items():
            if "_FillValue" not in variable.attrs:
                bare.setdefault(name, {})["_FillValue"] = None
        data.to_zarr(f"{folder}/packed.v{fmt}.zarr", zarr_format=fmt, encoding=bare, consolidated=False)
    return list(made)


OPENED = {}


def opened(job):
    place = (job["store"], job["decode"])
    if place not in OPENED:
        options = {"consolidated": False, "chunks": None, "decode_cf": job["decode"]}
        OPENED[place] = xr.open_dataset(job["store"], engine="zarr", **options)
    return OPENED[place].isel(job.get("isel") or {})


def frame(job):
    """What xarray's `to_dataframe` gives, its index as columns."""
    data, names = opened(job), job["variables"]
    part = data[names[0]] if len(names) == 1 else data[names]
    if len(names) == 1 and not part.dims:
        return part.expand_dims("one").to_dataframe().reset_index(drop=True)
    if len(names) == 1 and names[0] in part.coords and names[0] not in part.dims:
        part = part.drop_vars(names[0])
    if names[0] in part.dims:
        # Coordinates that only other variables name do not belong to it.
        return pd.DataFrame({names[0]: part.values})
    order = list(data[max(names, key=lambda name: data[name].ndim)].dims)
    return part.to_dataframe(dim_order=order).reset_index()


def read(job):
    if job["format"] == "csv":
        return pd.read_csv(job["file"], dtype=object, keep_default_na=False, na_values=[], encoding="utf-8")
    if job["format"] == "ndjson":
        with open(job["file"], encoding="utf-8") as lines:
            return pd.DataFrame([json.loads(line) for line in lines], dtype=object)
    if job["format"] == "parquet":
        import pyarrow.parquet as pq

        return pq.read_table(job["file"])
    import pyarrow as pa

    with pa.memory_map(job["file"]) as source:
        ipc = pa.ipc.open_file(source) if job["format"] == "arrow" else pa.ipc.open_stream(source)
        return ipc.read_all()


def is_missing(value):
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def same_text(texts, expected):
    """Whether cells of a text mean the values of a column."""
    kind = expected.dtype.kind
    texts = list(texts)
    if kind == "M":
        found = pd.to_datetime([None if is_missing(one) else one for one in texts], format="ISO8601")
        return np.array_equal(np.asarray(found, "M8[ns]").astype("i8"), expected.to_numpy().astype("M8[ns]").astype("i8"))
    if kind == "m":
        found = pd.to_timedelta([None if is_missing(one) else one for one in texts])
        return np.array_equal(found.to_numpy().astype("m8[ns]"), expected.to_numpy().astype("m8[ns]"), equal_nan=True)
    if kind == "f":
        found = np.array([np.nan if is_missing(one) else float(one) for one in texts]).astype(expected.dtype)
        return np.array_equal(found, expected.to_numpy(), equal_nan=True)
    if kind in "iu":
        return [int(one) for one in texts] == expected.tolist()
    if kind == "b":
        return [str(one).lower() for one in texts] == [str(one).lower() for one in expected]
    return [None if is_missing(one) else one for one in texts] == [word(one) for one in expected]


def word(value):
    if pd.isna(value) or value == "":
        return None
    if isinstance(value, bytes):
        return value.decode().rstrip("\0") or None
    return value.isoformat() if hasattr(value, "calendar") else str(value)


def same_column(column, expected):
    """Whether a column of Arrow has the values of another one, and their type."""
    import pyarrow as pa

    kind = expected.dtype.kind
    found = column.to_pandas()
    if kind == "f":
        if str(column.type) != {2: "float", 4: "float", 8: "double"}[expected.dtype.itemsize]:
            return False
        if column.null_count != int(np.isnan(expected.to_numpy()).sum()):
            return False
        return np.array_equal(found.to_numpy().astype(expected.dtype), expected.to_numpy(), equal_nan=True)
    if kind in "iub":
        return found.dtype == expected.dtype and found.tolist() == expected.tolist()
    if kind == "M":
        assert pa.types.is_timestamp(column.type) and column.type.tz is None, column.type
        return np.array_equal(found.to_numpy().astype("M8[us]").astype("i8"), expected.to_numpy().astype("M8[us]").astype("i8"))
    if kind == "m":
        if pa.types.is_integer(column.type):
            return found.tolist() == expected.to_numpy().astype("m8[ns]").astype("i8").tolist()
        return np.array_equal(found.to_numpy().astype("m8[ns]"), expected.to_numpy().astype("m8[ns]"), equal_nan=True)
    if pa.types.is_timestamp(column.type):
        return [one.isoformat() for one in column.to_pylist()] == [one.isoformat() for one in expected]
    return [None if is_missing(one) else one for one in column.to_pylist()] == [word(one) for one in expected]


def complex_apart(data):
    for name in [name for name in data if data[name].dtype.kind == "c"]:
        at = data.columns.get_loc(name)
        parts = data[name].to_numpy()
        data = data.drop(columns=name)
        data.insert(at, f"{name}.im", parts.imag)
        data.insert(at, f"{name}.re", parts.real)
    return data


def differences(job):
    if job["format"] in ("npy", "npz"):
        return array_differences(job)
    expected, found = complex_apart(frame(job)), read(job)
    names = list(found.columns) if isinstance(found, pd.DataFrame) else found.column_names
    if sorted(names) != sorted(expected.columns):
        return [f"columns {names}, not {list(expected.columns)}"]
    last = job["variables"][-1]
    if names[0] != expected.columns[0] or names[-1].removesuffix(".im") != last:
        return [f"order {names}, not {list(expected.columns)}"]
    if len(found) != len(expected):
        return [f"{len(found)} rows, not {len(expected)}"]
    same = same_text if isinstance(found, pd.DataFrame) else same_column
    return [f"{name}: {list(found[name])[:12]} {getattr(found[name], 'type', '')}, not {list(expected[name])[:12]} {expected[name].dtype}" for name in names if not same(found[name], expected[name])]


def array_differences(job):
    data = opened(job)
    loaded = np.load(job["file"])
    differing = []
    for name in job["variables"]:
        found, expected = (loaded if job["format"] == "npy" else loaded[name]), data[name].values
        is_time = expected.dtype.kind in "Mm"
        wanted = expected if expected.dtype.kind == "O" else expected.astype(found.dtype) if is_time else expected
        same_type = found.dtype.kind == expected.dtype.kind if is_time else found.dtype == expected.dtype
        if expected.dtype.kind == "O" and found.dtype.kind == "M":
            if [str(one) for one in found.astype("M8[s]")] != [one.isoformat() for one in expected]:
                differing.append(f"{name}: {found}, not {expected}")
            continue
        nan = wanted.dtype.kind in "fcMm"
        if not same_type or not np.array_equal(found, wanted, equal_nan=nan):
            differing.append(f"{name}: {found.ravel()[:12]} {found.dtype}, not {expected.ravel()[:12]} {expected.dtype}")
    if job["format"] == "npz" and sorted(loaded.files) != sorted(job["variables"]):
        differing.append(f"arrays {loaded.files}")
    return differing


def compare(jobs):
    with open(jobs, encoding="utf-8") as file:
        return [differences(job) for job in json.load(file)]


print(json.dumps((make if sys.argv[1] == "make" else compare)(sys.argv[2])))
