"""Frames that other encoders make of small inputs, printed as one line of JSON each: numcodecs, and Python's own modules.

    python test/fuzz/foreign_frames.py > test/fixtures/foreign-frames.json
"""

import base64
import bz2
import gzip
import io
import json
import lzma
import zlib

import numcodecs
import numpy as np

rng = np.random.default_rng(7)
INPUTS = {
    "noise": rng.integers(0, 256, 96, np.uint8).tobytes(),
    "runs": np.repeat(np.arange(5, dtype=np.uint8), 90).tobytes(),
    "floats": np.round(np.sin(np.arange(160) / 9) * 50).astype("<f4").tobytes(),
    "text": b" ".join(b"word%d" % (i * i % 23) for i in range(70)),
}

CONFIGS = [
    *(
        {"id": "blosc", "cname": cname, "clevel": 7, "shuffle": shuffle, "blocksize": size}
        for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
        for shuffle, size in [(0, 0), (1, 256), (2, 256)]
    ),
    *({"id": "zstd", "level": level} for level in [-5, 1, 6, 13, 19, 22]),
    {"id": "zstd", "level": 3, "checksum": True},
    {"id": "lz4", "acceleration": 1},
    {"id": "gzip", "level": 6},
    {"id": "zlib", "level": 6},
    {"id": "bz2", "level": 1},
    {"id": "bz2", "level": 9},
    {"id": "lzma"},
    {"id": "lzma", "preset": 9},
    {"id": "lzma", "format": 1, "check": 10},
    {"id": "lzma", "format": 2},
    {"id": "lzma", "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]},
]


def frames():
    for config in CONFIGS:
        codec = numcodecs.get_codec(config)
        for name, data in INPUTS.items():
            array = np.frombuffer(data, dtype="<f4") if len(data) % 4 == 0 else data
            yield config, [name], codec.encode(array)
    names = ["runs", "text"]
    runs, words = (INPUTS[name] for name in names)
    for module, config in [(gzip, "gzip"), (bz2, "bz2"), (lzma, "lzma")]:
        yield {"id": config}, names, module.compress(runs) + module.compress(words)
    yield {"id": "gzip"}, ["text"], named_gzip(words)
    small_window = zlib.compressobj(9, zlib.DEFLATED, 9)
    yield {"id": "zlib"}, ["text"], small_window.compress(words) + small_window.flush()
    zstd = numcodecs.zstd.Zstd(level=5)
    skippable = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"other"
    yield {"id": "zstd"}, names, bytes(zstd.encode(runs)) + skippable + bytes(zstd.encode(words))


def named_gzip(data):
    file = io.BytesIO()
    with gzip.GzipFile("a name", "wb", fileobj=file, mtime=1) as out:
        out.write(data)
    return file.getvalue()


def text(data):
    return base64.b64encode(bytes(data)).decode()


lines = [
    json.dumps({"config": config, "inputs": names, "encoded": text(encoded)}) for config, names, encoded in frames()
]
inputs = json.dumps({name: text(data) for name, data in INPUTS.items()})
print('{\n  "inputs": ' + inputs + ',\n  "frames": [\n    ' + ",\n    ".join(lines) + "\n  ]\n}")
