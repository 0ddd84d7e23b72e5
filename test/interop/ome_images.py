"""OME-Zarr by ome-zarr-py and ome-zarr-models, for python-ome.test.ts.

`write FOLDER` makes images, labels, plates and collections of versions 0.4 and 0.5, and prints their names.
`read PATH...` validates each with ome-zarr-models, reads it with ome-zarr-py, and prints what it holds.
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import ome_zarr_models.v04 as v04
import ome_zarr_models.v05 as v05
import zarr
from ome_zarr.format import FormatV04, FormatV05
from ome_zarr.io import parse_url
from ome_zarr.reader import Reader
from ome_zarr.scale import Methods
from ome_zarr.writer import (
    add_metadata,
    write_image,
    write_label_metadata,
    write_plate_metadata,
    write_well_metadata,
)
from ome_zarr_models.exceptions import ValidationWarning
from ome_zarr_models.v04.bioformats2raw import BioFormats2Raw as Collection04
from ome_zarr_models.v05.bioformats2raw import BioFormats2Raw as Collection05

FORMATS = {"0.4": FormatV04(), "0.5": FormatV05()}
SHAPES = {
    "2d": ("yx", (37, 50)),
    "3d": ("cyx", (3, 33, 40)),
    "4d": ("czyx", (2, 5, 24, 31)),
    "5d": ("tczyx", (2, 2, 4, 20, 22)),
}


def pixels(shape, seed):
    return np.random.default_rng(seed).integers(0, 4000, shape).astype("u2")


def add_image(group, fmt, axes, shape, seed=0, labels=()):
    write_image(
        pixels(shape, seed),
        group,
        axes=axes,
        fmt=fmt,
        scale_factors=[2, 4],
        scale={"y": 0.5, "x": 0.25},
        axes_units={"y": "micrometer", "x": "micrometer"},
        name=f"image {seed}",
        storage_options={"chunks": tuple(min(16, n) for n in shape)},
    )
    kept = [d for d, name in enumerate(axes) if name != "c"]
    for i, name in enumerate(labels):
        label_group = group.require_group("labels").require_group(name)
        write_image(
            (pixels([shape[d] for d in kept], seed + 1 + i) % 5).astype("u1"),
            label_group,
            axes="".join(axes[d] for d in kept),
            fmt=fmt,
            scale_factors=[2, 4],
            method=Methods.NEAREST,
            scale={"y": 0.5, "x": 0.25},
            name=name,
        )
        colors = [{"label-value": 1, "rgba": [255, 0, 0, 255]}]
        write_label_metadata(group["labels"], name, colors=colors, fmt=fmt, source={"image": "../../"})
    if labels and fmt.version == "0.5":  # which ome-zarr-py 0.18 leaves out
        group["labels"].attrs["ome"] = {"version": "0.5", **group["labels"].attrs["ome"]}


def new_group(path, fmt):
    return zarr.open_group(str(path), mode="w", zarr_format=fmt.zarr_format)


def set_ome(group, fmt, attributes):
    if fmt.version == "0.4":
        group.attrs.update(attributes)
    else:
        group.attrs["ome"] = {"version": "0.5", **attributes}


def write(folder):
    names = []
    for version, fmt in FORMATS.items():
        for name, (axes, shape) in SHAPES.items():
            group = new_group(folder / f"{name}-{version}.zarr", fmt)
            add_image(group, fmt, axes, shape, labels=["cells", "nuclei"] if name == "3d" else [])
            if "c" in axes:
                window = {"min": 0, "max": 4000, "start": 0, "end": 900}
                channels = [
                    {"color": "00FF00", "label": f"c{i}", "window": window} for i in range(shape[axes.index("c")])
                ]
                add_metadata(group, {"omero": {"channels": channels}}, fmt=fmt)
            names.append(f"{name}-{version}.zarr")
        plate = new_group(folder / f"plate-{version}.zarr", fmt)
        wells = ["A/1", "B/2"]
        write_plate_metadata(plate, ["A", "B"], ["1", "2"], wells, fmt=fmt, field_count=2, name="plate")
        for i, path in enumerate(wells):
            well = plate.require_group(path.split("/")[0]).require_group(path.split("/")[1])
            write_well_metadata(well, ["0", "1"], fmt=fmt)
            for field in ["0", "1"]:
                add_image(well.require_group(field), fmt, "cyx", (2, 20, 22), seed=10 * i + int(field))
        names.append(f"plate-{version}.zarr")
        for kind in ["collection", "series"]:
            collection = new_group(folder / f"{kind}-{version}.zarr", fmt)
            set_ome(collection, fmt, {"bioformats2raw.layout": 3})
            for name in ["0", "1"]:
                add_image(collection.require_group(name), fmt, "zyx", (3, 20, 18), seed=int(name))
            if kind == "series":
                set_ome(collection.require_group("OME"), fmt, {"series": ["0", "1"]})
                (folder / f"series-{version}.zarr/OME/METADATA.ome.xml").write_text("<OME/>")
            names.append(f"{kind}-{version}.zarr")
    return names


def validate(path, group, attributes):
    models = v04 if group.info._zarr_format == 2 else v05
    if "plate" in attributes:
        return models.HCS.from_zarr(group)
    if "bioformats2raw.layout" in attributes:
        return (Collection04 if models is v04 else Collection05).from_zarr(group)
    image = models.Image.from_zarr(group)
    if "labels" in group:
        models.Labels.from_zarr(group["labels"])
        for _, label in group["labels"].groups():
            models.ImageLabel.from_zarr(label)
    return image


def read_nodes(path):
    """What ome-zarr-py finds at a path: of each image its axes, transformations and levels."""
    found = {}
    for node in Reader(parse_url(str(path)))():
        if not node.data:
            continue
        name = str(Path(node.zarr.path).resolve().relative_to(Path(path).resolve()))
        metadata = node.metadata
        found[name] = {
            "axes": metadata.get("axes"),
            "transformations": metadata.get("coordinateTransformations"),
            "colors": str(metadata.get("color")),
            "channels": metadata.get("channel_names"),
            "levels": [
                [list(level.shape), str(level.dtype), hashlib.sha256(np.ascontiguousarray(level).tobytes()).hexdigest()]
                for level in node.data
            ],
        }
    return found


def read(path):
    group = zarr.open_group(path, mode="r")
    attributes = dict(group.attrs)
    ome = attributes.get("ome", attributes)
    model = validate(path, group, ome)
    nodes = read_nodes(path)
    if "bioformats2raw.layout" in ome and "plate" not in ome:
        for name in model.image_paths if model.__class__ is Collection04 else ["0", "1"]:
            nodes.update({f"{name}/{inner}": node for inner, node in read_nodes(f"{path}/{name}").items()})
    return {"version": model.ome_zarr_version, "nodes": nodes}


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", ValidationWarning)
    print(json.dumps(write(Path(paths[0])) if command == "write" else {path: read(path) for path in paths}))
