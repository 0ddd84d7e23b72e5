"""Writes NCZarr datasets with netCDF-C, and opens with it what zarrflow makes of them.

    python nczarr_cases.py write FOLDER
    python nczarr_cases.py read FOLDER NAME ...
"""

import json
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy


def url(path):
    return f"file://{path}#mode=nczarr,file"


def write(path, start, times):
    data = netCDF4.Dataset(url(path), "w")
    data.createDimension("time", None)
    data.createDimension("y", 4)
    data.createDimension("x", 6)
    t = data.createVariable("t", "f4", ("time", "y", "x"), chunksizes=(2, 4, 6))
    t.units = "K"
    t[:] = numpy.arange(start * 24, (start + times) * 24).reshape(times, 4, 6)
    data.createVariable("time", "i4", ("time",))[:] = numpy.arange(start, start + times)
    group = data.createGroup("g")
    group.createDimension("z", 3)
    group.createVariable("w", "i2", ("z", "y"))[:] = 1
    data.close()


def described(group):
    """Dimensions, and sums of variables, of a group and those below."""
    found = {group.path: {name: len(dimension) for name, dimension in group.dimensions.items()}}
    for name, variable in group.variables.items():
        path = f"{group.path.rstrip('/')}/{name}"
        found[path] = [list(variable.shape), float(variable[...].sum())]
    for below in group.groups.values():
        found |= described(below)
    return found


def read(path):
    with netCDF4.Dataset(url(path)) as data:
        return described(data)


def read_apart(path):
    """In a process of its own, as netCDF-C may crash where a dimension is missing."""
    done = subprocess.run([sys.executable, __file__, "one", path], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else f"{done.returncode}: {done.stderr[-300:]}"


def main(what, folder, *names):
    if what == "one":
        return read(folder)
    if what == "read":
        return {name: read_apart(Path(folder) / name) for name in names}
    write(Path(folder) / "first", 0, 8)
    write(Path(folder) / "more", 8, 4)
    return ["first", "more"]


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
