"""Prints shape, type and SHA-256 of what numpy reads from a .npy file.

    python hash_npy.py FILE
"""

import hashlib
import json
import sys

import numpy

values = numpy.load(sys.argv[1], allow_pickle=False)
digest = hashlib.sha256(values.tobytes("C")).hexdigest()
print(json.dumps({"shape": list(values.shape), "dtype": values.dtype.str, "sha256": digest}))
