"""Writes coordinates of many kinds with xarray, and what `.sel` takes of them for random labels.

    label_cases.py FOLDER COUNT SEED

prints a list of cases: the array, the slice as zarrflow takes it, whether the nearest item is asked for, the items that
xarray takes, and whether it drops the dimension (null where it never does, as with calendars of cftime).
"""

import json
import random
import sys
import warnings

import cftime
import numpy as np
import pandas as pd
import xarray as xr

warnings.filterwarnings("ignore")
FOLDER, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(SEED)

CALENDARS = ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian", "gregorian", "365_day", "366_day"]


def times():
    """Coordinates of times, by name: a chunk length, the values as numbers, and their attributes."""
    made = {}
    for calendar in CALENDARS:
        made[f"hours_{calendar}"] = (np.arange(0, 6 * 500, 6), {"units": "hours since 1999-12-20 06:00:00", "calendar": calendar})
        made[f"days_{calendar}"] = (np.arange(300) * 1.25 + 0.5, {"units": "days since 1581-11-01", "calendar": calendar})
        made[f"down_{calendar}"] = (np.arange(200)[::-1] * 12, {"units": "hours since 2000-02-01", "calendar": calendar})
    made["months_360_day"] = (np.arange(60), {"units": "months since 2000-01-01", "calendar": "360_day"})
    made["years_365_day"] = (np.arange(60), {"units": "common_years since 1950-01-01", "calendar": "365_day"})
    made["seconds"] = (np.arange(0, 86400, 30), {"units": "seconds since 1970-01-01T00:00:00Z"})
    made["minutes"] = (np.arange(0, 3000, 5), {"units": "minutes since 2020-02-28 23:00:00 +01:30"})
    made["millis"] = (np.arange(0, 100000, 250), {"units": "milliseconds since 2020-02-29"})
    made["micros"] = (np.arange(0, 10**6, 2500), {"units": "microseconds since 2020-02-29"})
    made["nanos"] = (np.arange(0, 10**5, 250), {"units": "nanoseconds since 2020-02-29 12:00:00"})
    return made


def others():
    words = ["Oslo", "Bergen", "Zürich", "a", "B", "Ärzte", "中", "😀", "zz", "Rom"]
    return {
        "down64": (np.linspace(90, -90, 181), {}),
        "up64": (np.linspace(-180, 179.25, 480), {}),
        "up32": (np.linspace(0, 10, 101).astype("f4"), {}),
        "down32": (np.linspace(10, 0, 51).astype("f4"), {}),
        "ints": (np.arange(-50, 350, 3), {}),
        "small": (np.arange(-50, 50, 2).astype("i1"), {}),
        "uneven": (np.sort(np.random.default_rng(1).uniform(-5, 5, 200)), {}),
        "unsorted": (np.random.default_rng(2).permutation(40) * 0.5, {}),
        "packed": (np.arange(-300, 300, 2).astype("i2"), {"scale_factor": 0.25, "add_offset": 10.0}),
        "offset": (np.arange(100, dtype="i4")[::-1].copy(), {"add_offset": 1000.5}),
        "words": (np.array(words), {}),
        "sorted": (np.array(sorted(words)), {}),
    }


def write(fmt):
    made = {**times(), **others()}
    raw = {}
    for name, (values, attrs) in made.items():
        # A missing value of v2 would make 0 a missing one.
        encoding = {"_FillValue": None}
        raw[name] = xr.DataArray(values, dims=name, attrs=attrs)
        raw[name].encoding = {**encoding, "chunks": (rng.choice([7, 16, 64, len(values)]),)}
        raw[f"v_{name}"] = xr.DataArray(np.arange(len(values)), dims=name)
    path = f"{FOLDER}/labels.v{fmt}.zarr"
    xr.Dataset(raw).to_zarr(path, zarr_format=fmt, consolidated=False)
    return path, list(made)


def text_of(time, resolution):
    """An instant as ISO 8601, cut after a part."""
    if isinstance(time, cftime.datetime):
        whole = time.isoformat()
    else:
        whole = pd.Timestamp(time).isoformat()
    length = {"year": 4, "month": 7, "day": 10, "hour": 13, "minute": 16, "second": 19}[resolution]
    return whole[:length]


def random_time(values):
    at = rng.randrange(len(values))
    time = values[at]
    if rng.random() < 0.5:
        return time
    step = abs(values[1] - values[0])
    if isinstance(time, cftime.datetime):
        return (time + step * rng.random()).replace(microsecond=0)
    return (pd.Timestamp(time) + pd.Timedelta(step) * rng.random()).floor("s")


def random_labels(values):
    """A slice as zarrflow takes it, and the same for `.sel`."""
    kind = values.dtype.kind
    one = rng.random() < 0.5
    nearest = False
    down = values[0] > values[-1] if kind in "MOif" and not isinstance(values[0], str) else False
    if kind == "M" or (kind == "O" and isinstance(values[0], cftime.datetime)):
        nearest = one and rng.random() < 0.3
        if nearest:
            lo, hi = min(values[0], values[-1]), max(values[0], values[-1])
            time = random_time(values)
            time = min(max(time, lo), hi)
            label = text_of(time, "second")
            return label, (time if isinstance(time, cftime.datetime) else label), True
        reso = lambda: rng.choice(["year", "month", "day", "hour", "minute", "second"])
        if one:
            label = text_of(random_time(values), rng.choice(["month", "day", "hour", "minute", "second"]))
            return label, label, False
        a, b = sorted([random_time(values), random_time(values)])
        a, b = text_of(a, reso()), text_of(b, reso())
        sign = rng.choice(["..", ":"]) if len(a) > 4 and len(b) > 4 else ".."
        if down and kind == "M":
            # pandas takes texts only where the index goes up, or has both.
            return f"{a}{sign}{b}", slice(pd.Period(b).end_time, pd.Period(a).start_time), False
        return f"{a}{sign}{b}", (slice(b, a) if down else slice(a, b)), False
    if kind in "if":
        is_sorted = bool(np.all(np.diff(values) > 0) or np.all(np.diff(values) < 0))
        down = down and is_sorted
        if one:
            if not is_sorted or rng.random() < 0.5:
                value = values[rng.randrange(len(values))].item()
            else:
                value, nearest = rng.uniform(float(values.min()), float(values.max())), True
            # A whole number alone is an index.
            return (repr(float(value)), value, nearest)
        if is_sorted:
            # In the type of the coordinate: xarray compares ends of float32 with more digits than it has.
            pick = lambda: values.dtype.type(rng.uniform(float(values.min()) - 1, float(values.max()) + 1)).item()
            a, b = sorted([pick(), pick()])
        else:
            a, b = (values[i].item() for i in sorted(rng.sample(range(len(values)), 2)))
        step = rng.choice([None, None, 2, 3])
        end = "" if step is None else f"..{step}"
        return f"{a!r}..{b!r}{end}", (slice(b, a, step) if down else slice(a, b, step)), False
    i, j = sorted(rng.sample(range(len(values)), 2))
    a, b = str(values[i]), str(values[j])
    return (a, a, False) if one else (f"{a}..{b}", slice(a, b), False)


def main():
    cases = []
    stores = [(fmt, *write(fmt)) for fmt in (2, 3)]
    opened = {fmt: xr.open_dataset(path, engine="zarr", consolidated=False) for fmt, path, _ in stores}
    names = stores[0][2]
    while len(cases) < COUNT:
        fmt, path, _ = stores[len(cases) % 2]
        name = names[len(cases) % len(names)]
        dataset = opened[fmt]
        text, label, nearest = random_labels(dataset[name].values)
        array = dataset[f"v_{name}"]
        try:
            found = array.sel({name: label}, **({"method": "nearest"} if nearest else {}))
            items = np.atleast_1d(found.values).tolist()
            dropped = found.ndim == 0
        except KeyError:
            items, dropped = [], False
        is_cftime = isinstance(dataset.indexes[name], xr.CFTimeIndex)
        cases.append(
            {
                "array": f"{path}/v_{name}",
                "slice": f"{name}={text}",
                "nearest": nearest,
                "items": items,
                "dropped": None if is_cftime and not nearest else dropped,
            }
        )
    print(json.dumps(cases))


main()
