"""Prints, for each store, the SHA-256 of each of its arrays as zarr-python reads it, as JSON.

    python hash_remote.py STORE...

STORE is a folder or a zip, here, in S3 (as the AWS_* variables say) or on a web server. Arrays are found by
consolidated metadata.
"""

import hashlib
import json
import sys
import warnings

import fsspec
import zarr
from zarr.storage import FsspecStore, LocalStore, ZipStore

warnings.simplefilter("ignore")  # zarr-python on consolidated metadata of v3


class ZipObject(ZipStore):
    """A zip behind a file object, which is read by ranges, in place of a path."""

    def __init__(self, file):
        super().__init__("object.zip", mode="r")
        self.path = file


def store_at(url):
    is_remote = "://" in url
    if url.endswith(".zip"):
        return ZipObject(fsspec.open(url, "rb").open()) if is_remote else ZipStore(url, mode="r")
    return FsspecStore.from_url(url, read_only=True) if is_remote else LocalStore(url, read_only=True)


def digests(url):
    group = zarr.open_group(store_at(url), mode="r", use_consolidated=True)
    return {
        path: hashlib.sha256(node[...].tobytes("C")).hexdigest()
        for path, node in group.members(max_depth=None)
        if isinstance(node, zarr.Array)
    }


print(json.dumps({url: digests(url) for url in sys.argv[1:]}))
