"""Makes arrays, and compares pyramids of them with plain NumPy: every level is made of the one before.

    python pyramid_cases.py write FOLDER
    python pyramid_cases.py compare FOLDER
"""

import itertools
import json
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy
import zarr

METHODS = ["mean", "nearest", "mode", "min", "max"]
DTYPES = ["uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64", "bool"]
#: shape, chunks, axes, factors
SHAPES = [
    [(37, 50), (8, 10), "yx", {"y": 2, "x": 2}],
    [(21, 34), (5, 7), "yx", {"y": 2, "x": 3}],
    [(9, 13, 20), (4, 4, 6), "zyx", {"z": 1, "y": 2, "x": 2}],
    [(3, 7, 18, 15), (1, 4, 4, 4), "czyx", {"z": 2, "y": 2, "x": 2}],
    [(2, 2, 5, 12, 11), (1, 2, 2, 4, 3), "tczyx", {"z": 2, "y": 2, "x": 2}],
]


def methods_of(index):
    """Two methods for each case: all of them for each shape and each type."""
    return [METHODS[index % 5], METHODS[(index + 2) % 5]]


def items(shape, dtype, seed):
    random = numpy.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        data = random.normal(0, 100, shape).round(1).astype(dtype)
        data[random.random(shape) < 0.3] = numpy.nan
        data[tuple(slice(0, n // 2) for n in shape)] = numpy.nan
        return data
    info = numpy.iinfo(dtype)
    few = random.integers(0, 6, shape).astype(dtype)
    wide = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return numpy.where(random.random(shape) < 0.5, few, wide)


def cases(folder):
    for seed, ((shape, chunks, axes, factors), dtype) in enumerate(itertools.product(SHAPES, DTYPES)):
        zarr_format = 2 + seed % 2
        name = f"{len(shape)}d-{shape[0]}-{dtype}-v{zarr_format}"
        at = Path(folder) / name
        case = {"name": name, "axes": axes, "factors": factors, "packed": False, "methods": methods_of(seed)}
        yield case, at, shape, chunks, dtype, seed, zarr_format
    for seed, (shape, chunks, axes, factors) in enumerate(SHAPES):
        name = f"{len(shape)}d-{shape[0]}-packed"
        case = {"name": name, "axes": axes, "factors": factors, "packed": True, "methods": METHODS}
        yield case, Path(folder) / name, shape, chunks, "int16", 90 + seed, 3


def write(folder):
    listed = []
    for case, at, shape, chunks, dtype, seed, zarr_format in cases(folder):
        data = items(shape, dtype, seed)
        more = {"dimension_names": list(case["axes"])} if zarr_format == 3 else {}
        array = zarr.create_array(at / "source.zarr", shape=shape, chunks=chunks, dtype=dtype, zarr_format=zarr_format, **more)
        if case["packed"]:
            data[numpy.random.default_rng(seed).random(shape) < 0.4] = -999
            data[tuple(slice(0, n // 2) for n in shape)] = -999
            array.attrs.update({"_FillValue": -999, "scale_factor": 0.1})
        array[...] = data
        listed.append(case)
    return listed


def one(block, method, dtype, missing):
    """The item that a block becomes, without any of NumPy's reductions."""
    if method == "nearest":
        return block.flat[0]
    there = [v.item() for v in block.flat if not (v != v) and not (missing is not None and v == missing)]
    if not there:
        return missing if missing is not None else numpy.nan
    if method == "min":
        return min(there)
    if method == "max":
        return max(there)
    if method == "mode":
        counts = Counter(there)
        return min(v for v, n in counts.items() if n == max(counts.values()))
    if dtype.kind == "f":
        total = 0.0
        for value in there:
            total += value
        return total / len(there)
    return round(Fraction(sum(int(v) for v in there), len(there)))  # halves to even


def reduced(data, factors, method, missing):
    shape = [-(-n // f) for n, f in zip(data.shape, factors)]
    result = numpy.empty(shape, data.dtype)
    for at in numpy.ndindex(*shape):
        block = data[tuple(slice(i * f, (i + 1) * f) for i, f in zip(at, factors))]
        result[at] = one(block, method, data.dtype, missing)
    return result


def nanmean(data, factors):
    """The mean of floats by numpy.nanmean, as a check of the above."""
    padding = [(0, -n % f) for n, f in zip(data.shape, factors)]
    padded = numpy.pad(data.astype("float64"), padding, constant_values=numpy.nan)
    split = padded.reshape([m for n, f in zip(padded.shape, factors) for m in (n // f, f)])
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return numpy.nanmean(split, axis=tuple(range(1, 2 * data.ndim, 2)))


def compare(folder):
    differing = {}
    compared = 0
    for case, at, shape, chunks, dtype, seed, zarr_format in cases(folder):
        source = zarr.open_array(at / "source.zarr", mode="r")[...]
        for method in case["methods"]:
            group = zarr.open_group(at / f"{method}.zarr", mode="r")
            attributes = group.attrs["ome"] if zarr_format == 3 else group.attrs
            [multiscale] = attributes["multiscales"]
            version = multiscale["version"] if zarr_format == 2 else attributes["version"]
            expected = source
            scale = [1] * len(shape)
            problems = []
            if version != {2: "0.4", 3: "0.5"}[zarr_format]:
                problems.append(f"version {version}")
            if [axis["name"] for axis in multiscale["axes"]] != list(case["axes"]):
                problems.append("axes")
            for level, dataset in enumerate(multiscale["datasets"]):
                if level > 0:
                    factors = [case["factors"].get(a, 1) if n > 1 else 1 for a, n in zip(case["axes"], expected.shape)]
                    if method == "mean" and expected.dtype.kind == "f" and expected.dtype.itemsize > 2:
                        means = nanmean(expected, factors).astype(expected.dtype)
                    else:
                        means = None
                    expected = reduced(expected, factors, method, -999 if case["packed"] else None)
                    if means is not None and not numpy.allclose(means, expected, rtol=1e-6, equal_nan=True):
                        problems.append(f"level {level}: nanmean")
                    scale = [a * b for a, b in zip(scale, factors)]
                array = group[dataset["path"]]
                found = array[...]
                if found.dtype != source.dtype or found.shape != expected.shape:
                    problems.append(f"level {level}: {found.dtype} {found.shape}, not {expected.shape}")
                elif not numpy.array_equal(found, expected, equal_nan=found.dtype.kind == "f"):
                    problems.append(f"level {level}: {int((found != expected).sum())} items")
                offsets = [0 if method == "nearest" else (n - 1) / 2 for n in scale]
                stated = {one["type"]: one[one["type"]] for one in dataset["coordinateTransformations"]}
                if stated["scale"] != scale or stated.get("translation", [0] * len(shape)) != offsets:
                    problems.append(f"level {level}: {stated}")
                if zarr_format == 3 and list(array.metadata.dimension_names) != list(case["axes"]):
                    problems.append("dimension names")
                compared += 1
            if len(multiscale["datasets"]) < 3:
                problems.append("few levels")
            if problems:
                differing[f"{case['name']} {method}"] = problems
    return {"differing": differing, "compared": compared}


print(json.dumps({"write": write, "compare": compare}[sys.argv[1]](sys.argv[2])))
