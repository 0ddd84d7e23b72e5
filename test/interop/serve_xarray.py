"""Prints, for each pair of places, whether xarray opens the same dataset at both: values, attributes, encoding of time.

    python serve_xarray.py PLACE URL PLACE URL ...
"""

import json
import sys
import warnings

import xarray

warnings.simplefilter("error", RuntimeWarning)  # xarray warns when consolidated metadata are missing


def same(place, url):
    with xarray.open_zarr(place, chunks=None) as a, xarray.open_zarr(url, consolidated=True, chunks=None) as b:
        xarray.testing.assert_identical(a.load(), b.load())
        return sorted(map(str, b.variables))


pairs = zip(sys.argv[1::2], sys.argv[2::2])
print(json.dumps([same(*pair) for pair in pairs]))
