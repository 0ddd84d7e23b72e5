"""Write datasets with related variables, and say what xarray takes with one variable of each.

Arguments: a folder. Prints JSON: of each case the store, the variable, the indices that are sliced, and names and shapes of
the coordinates of the variable, whole and sliced. With a second argument, the JSON of what was made, it prints what differs.
"""

import json
import sys
import warnings

import numpy as np
import xarray as xr

warnings.simplefilter("ignore")


def datasets():
    time = ("time", np.arange(12.0), {"units": "days since 2000-01-01", "bounds": "time_bnds"})
    bounds = (("time", "nv"), np.arange(24.0).reshape(12, 2))
    regular = xr.Dataset(
        {
            "t2m": (
                ("time", "lat", "lon"),
                np.random.default_rng(1).random((12, 6, 8)).astype("f4"),
                {"grid_mapping": "crs", "ancillary_variables": "t2m_error", "cell_measures": "area: cell_area"},
            ),
            "t2m_error": (("time", "lat", "lon"), np.zeros((12, 6, 8), "i1")),
            "cell_area": (("lat", "lon"), np.ones((6, 8))),
            "time_bnds": bounds,
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
            "other": (("time", "depth"), np.zeros((12, 3))),
        },
        coords={
            "time": time,
            "lat": ("lat", np.linspace(50, 45, 6)),
            "lon": ("lon", np.linspace(0, 7, 8)),
            "depth": ("depth", [1.0, 2.0, 5.0]),
            "height": ((), 2.0),
        },
    )
    yield "regular", regular, "t2m", {"time": slice(2, 9, 2), "lat": slice(1, 4)}

    curvilinear = xr.Dataset(
        {
            "tas": (("y", "x"), np.random.default_rng(2).random((5, 7)), {"grid_mapping": "proj: x y geo: lat2 lon2"}),
            "flag": (("x",), np.arange(7)),
            "proj": ((), 0),
            "geo": ((), 0),
        },
        coords={
            "x": ("x", np.arange(7.0)),
            "y": ("y", np.arange(5.0)),
            "lat2": (("y", "x"), np.random.default_rng(3).random((5, 7)), {"bounds": "lat2_vertices"}),
            "lon2": (("y", "x"), np.random.default_rng(4).random((5, 7))),
            "run": ((), 3),
        },
    )
    curvilinear["lat2_vertices"] = (("y", "x", "corner"), np.zeros((5, 7, 4)))
    yield "curvilinear", curvilinear, "tas", {"y": slice(1, 4), "x": slice(0, 3)}

    hybrid = xr.Dataset(
        {
            "u": (("lev", "cell"), np.zeros((4, 9))),
            "ps": (("cell",), np.ones(9)),
            "a": (("lev",), np.ones(4)),
            "b": (("lev",), np.ones(4)),
        },
        coords={
            "lev": ("lev", np.arange(4.0), {"formula_terms": "a: a b: b ps: ps"}),
            "name": ("cell", np.array(list("abcdefghi"))),
        },
    )
    yield "hybrid", hybrid, "u", {"lev": slice(1, 3)}


def coordinates(dataset):
    return {str(name): [list(map(str, c.dims)), list(c.shape)] for name, c in dataset.coords.items()}


def write(folder):
    cases = []
    for name, dataset, variable, indices in datasets():
        for zarr_format in (2, 3):
            for consolidated in (True, False):
                store = f"{folder}/{name}.v{zarr_format}{'c' if consolidated else ''}.zarr"
                dataset.to_zarr(store, zarr_format=zarr_format, consolidated=consolidated)
                one = xr.open_zarr(store, consolidated=consolidated)[[variable]]
                ranges = {d: [s.start, s.stop, s.step or 1] for d, s in indices.items()}
                cases.append({"store": store, "variable": variable, "slice": ranges, "whole": coordinates(one)})
    return cases


def compare(cases):
    differing = []
    for case in cases:
        expected = xr.open_zarr(case["store"], consolidated=None)[[case["variable"]]]
        if case["isSliced"]:
            expected = expected.isel({d: slice(*r) for d, r in case["slice"].items()})
        made = xr.open_zarr(case["made"], consolidated=None)
        found = made[[case["variable"]]]
        if set(found.coords) != set(expected.coords) or set(made.coords) != set(expected.coords):
            differing.append([case["made"], sorted(map(str, made.coords)), sorted(map(str, expected.coords))])
            continue
        try:
            xr.testing.assert_identical(found, expected)
        except AssertionError as error:
            differing.append([case["made"], str(error)])
    return differing


if __name__ == "__main__":
    print(json.dumps(compare(json.loads(sys.argv[2])) if len(sys.argv) > 2 else write(sys.argv[1])))
