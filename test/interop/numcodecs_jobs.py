"""Encodes and decodes by numcodecs: reads a file of JSON, a list of jobs, and prints the list of what they gave.

A job has `config`, `action` (encode or decode), `dtype` of the array that is encoded, and `bytes` in Base64; the answer
is Base64 too, or the error in words.
"""

import base64
import json
import sys

import numcodecs
import numpy as np
from numcodecs.compat import ensure_bytes


def run(job):
    codec = numcodecs.get_codec(job["config"])
    data = base64.b64decode(job["bytes"])
    if job["action"] == "decode":
        return ensure_bytes(codec.decode(data))
    return ensure_bytes(codec.encode(np.frombuffer(data, dtype=job["dtype"])))


def answer(job):
    try:
        return {"bytes": base64.b64encode(run(job)).decode()}
    except Exception as error:  # Whatever it is, the test tells.
        return {"error": f"{type(error).__name__}: {error}"}


with open(sys.argv[1]) as file:
    jobs = json.load(file)
print(json.dumps([answer(job) for job in jobs]))
