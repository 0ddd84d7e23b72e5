"""Prints what a reader finds in arrays that a web server or a folder has, as JSON: digest or values of each, or an error.

    python read_served.py zarr-python|tensorstore JOBS

JOBS is a JSON file, a list of {"id", "url", "format", "path", "selection", "values"}. `url` is that of an array or, with a `path`,
of a group whose consolidated metadata the array is found by. SHA-256 and values are as the manifests have them; `values` asks for these.
"""

import asyncio
import base64
import hashlib
import json
import math
import sys
import warnings

import numpy
import tensorstore
from zarr.api import asynchronous as zarr
from zarr.storage import FsspecStore, LocalStore

warnings.simplefilter("ignore")


def plain(value):
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def found(values, wants_values):
    if isinstance(values, (str, bytes)):  # the only item of an array without dimensions
        return {"values": [plain(values)]}
    values = numpy.asarray(values)
    if values.dtype.kind in "OT" or wants_values:
        return {"values": [plain(item) for item in values.astype(object).ravel()]}
    little = values.astype(values.dtype.newbyteorder("<"), order="C")
    return {"sha256": hashlib.sha256(little.tobytes("C")).hexdigest()}


groups = {}


async def by_zarr_python(job, selection):
    url = job["url"]
    store = (FsspecStore.from_url if "://" in url else LocalStore)(url, read_only=True)
    if "path" not in job:
        array = await zarr.open_array(store=store, mode="r", zarr_format=job["format"])
    else:
        if url not in groups:
            groups[url] = asyncio.ensure_future(zarr.open_group(store=store, mode="r", use_consolidated=True))
        array = await (await groups[url]).getitem(job["path"])
    return await array.getitem(selection)


async def by_tensorstore(job, selection):
    url = job["url"]
    http = {"driver": "http", "base_url": url, "path": "/"}
    kvstore = http if "://" in url else {"driver": "file", "path": f"{url}/"}
    driver = "zarr3" if job["format"] == 3 else "zarr"
    array = await tensorstore.open({"driver": driver, "kvstore": kvstore}, read=True)
    return await array[selection].read()


async def main(reader, path):
    read = {"zarr-python": by_zarr_python, "tensorstore": by_tensorstore}[reader]
    with open(path) as file:
        jobs = json.load(file)
    at_once = asyncio.Semaphore(8)

    async def outcome(job):
        selection = tuple(slice(*ends) for ends in job.get("selection", ())) or Ellipsis
        async with at_once:
            try:
                return found(await read(job, selection), job.get("values", False))
            except Exception as error:
                return {"error": f"{type(error).__name__}: {error}"}

    return dict(zip([job["id"] for job in jobs], await asyncio.gather(*map(outcome, jobs))))


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
