"""Prints what zarr-python and tensorstore read of arrays on a web server, and zarr-python of their originals, as JSON.

    python read_served.py VERIFY_WRITTEN URL JOBS

VERIFY_WRITTEN is the script of the corpus that describes arrays. JOBS is a JSON file: a list of arrays, each with the
path of the array below URL, its format, and, where zarr-python may read the original, its store and path.
"""

import hashlib
import importlib.util
import json
import sys
import warnings

import numpy
import tensorstore
import zarr
from zarr.storage import FsspecStore, LocalStore, ZipStore

warnings.simplefilter("ignore")
script, url, jobs = sys.argv[1:]
spec = importlib.util.spec_from_file_location("verify_written", script)
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
served = FsspecStore.from_url(url.rstrip("/"), read_only=True)


def found(describe):
    try:
        described = describe()
        return {name: described[name] for name in ("sha256", "values") if name in described}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def by_zarr(store, path, version):
    return verify.describe(zarr.open_array(store, path=path, mode="r", zarr_format=version))


def original(job):
    place = job["original"]
    store = ZipStore(place, mode="r") if place.endswith(".zip") else LocalStore(place, read_only=True)
    return by_zarr(store, job["original_path"], job["original_format"])


def by_tensorstore(job):
    driver = "zarr3" if job["format"] == 3 else "zarr"
    kvstore = f"{url.rstrip('/')}/{job['path']}/"
    values = tensorstore.open({"driver": driver, "kvstore": kvstore}, read=True).result().read().result()
    little = numpy.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    return {"sha256": hashlib.sha256(little.tobytes("C")).hexdigest()}


def read(job):
    result = {
        "path": job["path"],
        "zarr": found(lambda: by_zarr(served, job["path"], job["format"])),
        "tensorstore": found(lambda: by_tensorstore(job)),
    }
    if "original" in job:
        result["original"] = found(lambda: original(job))
    return result


with open(jobs) as file:
    print(json.dumps([read(job) for job in json.load(file)]))
