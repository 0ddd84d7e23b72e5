"""Prints, as JSON, chunks that numcodecs encoded: configuration, values or bytes in hexadecimal, encoded bytes."""

import json

import numcodecs
import numpy as np

TEXTS = ["", "a", "héllo", "日本", "😀 astral", "x" * 300, "nul\0in", "z"]
MIXED = [{"b": [1, 2.5], "a": None}, [True, "x", -1], "plain", 1.0, -7, 2**63, -(2**63), 65_536, 1e300, []]
NESTED = [{"b": [1, 2.5], "a": None}, [True, "x", -1], "plain", -7, -200, 65_536, 2**40, {}, []]
LISTS = [[1, 2, 3], [], [-5], list(range(20))]


def objects(values, shape=None):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array if shape is None else array.reshape(shape)


def case(codec, array, values=None):
    encoded = bytes(numcodecs.compat.ensure_bytes(codec.encode(array)))
    given = {"bytes": array.tobytes().hex()} if values is None else {"values": values}
    return {"config": codec.get_config(), "encoded": encoded.hex(), "itemSize": array.itemsize, **given}


numbers = np.arange(35, dtype="<i4") * 1_000_003
words = np.array(["male", "female", "other?", "nobody", "male"], dtype="<U6")
categories = {"labels": ["female", "male", "other?"]}
cases = [
    *(case(codec, objects(TEXTS), TEXTS) for codec in [numcodecs.JSON(), numcodecs.MsgPack(), numcodecs.VLenUTF8()]),
    *(
        case(codec, objects(values), values)
        for values in [MIXED, NESTED]
        for codec in [
            numcodecs.JSON(),
            numcodecs.JSON(ensure_ascii=False, sort_keys=False),
            numcodecs.MsgPack(),
            numcodecs.MsgPack(use_bin_type=False),
        ]
    ),
    case(numcodecs.VLenArray("<i4"), objects([np.array(x, dtype="<i4") for x in LISTS]), LISTS),
    case(numcodecs.VLenArray("<f8"), objects([np.array(x, dtype="<f8") for x in LISTS]), LISTS),
    case(
        numcodecs.Categorize(dtype=object, **categories),
        objects(["male", "female", "", "other?"]),
        ["male", "female", "", "other?"],
    ),
    case(numcodecs.Categorize(dtype="<U6", astype="<u2", **categories), words[[0, 1, 2, 4]]),
    *(
        case(codec, numbers)
        for codec in [numcodecs.Base64(), numcodecs.JenkinsLookup3(), numcodecs.JenkinsLookup3(initval=7)]
    ),
    *(case(numcodecs.Base64(), numbers.view("u1")[:n]) for n in range(4)),
    *(case(numcodecs.JenkinsLookup3(initval=n), numbers.view("u1")[:n]) for n in range(1, 28)),
]
print(json.dumps(cases))
