"""The Python side of bench/codecs.mjs: reads jobs from stdin, one line of JSON each, and prints a line with time and result for each."""

import json
import statistics
import sys
import time

import numcodecs
import numpy as np


def job_of(config, array):
    """Return functions that encode and decode `array`, and the size of its encoded form."""
    kind = config["id"]
    if kind == "swap":
        return array.byteswap, array.byteswap, array.nbytes
    if kind == "transpose":
        side = int(array.size**0.5)
        square = array[: side * side].reshape(side, side)
        return (lambda: np.ascontiguousarray(square.T),) * 2 + (array.nbytes,)
    codec = numcodecs.get_codec(config)
    encoded = codec.encode(array)
    out = np.empty_like(array)
    size = encoded.nbytes if hasattr(encoded, "nbytes") else len(encoded)
    return (lambda: codec.encode(array)), (lambda: codec.decode(encoded, out=out)), size


def seconds_of(call, budget):
    times = []
    end = time.perf_counter() + budget
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        times.append(now - start)
        if now >= end and len(times) >= 3:
            return statistics.median(times)


numcodecs.blosc.use_threads = False
numcodecs.blosc.set_nthreads(1)
jobs = {}
for line in sys.stdin:
    request = json.loads(line)
    key = json.dumps([request["config"], request["path"]])
    if key not in jobs:
        jobs[key] = job_of(request["config"], np.fromfile(request["path"], dtype=request["dtype"]))
    encode, decode, size = jobs[key]
    call = encode if request["direction"] == "encode" else decode
    print(json.dumps({"seconds": seconds_of(call, request["seconds"]), "size": size}), flush=True)
