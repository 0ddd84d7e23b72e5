"""Prints what zarr-python reads of each array of a group: its fill value, its SHA-256, and the group's consolidated members.

    python fixed_group.py STORE
"""

import hashlib
import json
import sys

import zarr

arrays = {name: array for name, array in zarr.open_group(sys.argv[1], mode="r", use_consolidated=False).arrays()}
consolidated = zarr.open_consolidated(sys.argv[1], mode="r")
print(json.dumps({
    "arrays": {
        name: [str(array.fill_value), hashlib.sha256(array[...].tobytes("C")).hexdigest()]
        for name, array in arrays.items()
    },
    "consolidated": {name: str(array.fill_value) for name, array in consolidated.arrays()},
}))
