"""Reads all of a zip with Python's own zipfile; prints its names, and the first that is damaged, as JSON.

    python list_zip.py ZIP
"""

import json
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    print(json.dumps({"names": archive.namelist(), "damaged": archive.testzip()}))
