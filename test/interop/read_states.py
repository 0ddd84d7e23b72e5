"""What zarr-python reads from many states of one hierarchy, by each way to open it.

    python read_states.py FOLDER PATH...

Prints a JSON object: for each folder or zip file in FOLDER, for each way to open it, the text of each array at one of the
paths that can be read, and the kind of error of each one that cannot. Nodes that are not there are left out.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy
import zarr

warnings.simplefilter("ignore")

ABSENT = (KeyError, FileNotFoundError)


def text_of(array):
    values = ",".join(str(value) for value in numpy.asarray(array[...]).ravel())
    attributes = json.dumps(dict(array.attrs), separators=(",", ":"))
    return f"{','.join(map(str, array.shape))}: {values} {attributes}"


def read_all(opened, paths):
    """What `opened(path)` gives for each path."""
    read = {}
    for path in paths:
        try:
            node = opened(path)
            if isinstance(node, zarr.Array):
                read[path] = text_of(node)
        except ABSENT:
            pass
        except Exception as error:
            read[path] = f"unreadable: {type(error).__name__}: {error}"
    return read


def views(place, paths):
    store = zarr.storage.ZipStore(place, mode="r") if place.suffix == ".zip" else zarr.storage.LocalStore(place, read_only=True)
    try:
        found = {"alone": read_all(lambda path: zarr.open_array(store, path=path, mode="r"), paths)}
        for way in (True, False, None):
            try:
                group = zarr.open_group(store, mode="r", use_consolidated=way)
            except (*ABSENT, ValueError):  # a ValueError where no metadata are consolidated
                continue
            found[f"use_consolidated={way}"] = read_all(group.__getitem__, paths)
        return found
    finally:
        store.close()


folder, *paths = sys.argv[1:]
print(json.dumps({place.name: views(place, paths) for place in sorted(Path(folder).iterdir())}))
