// @module-tag slow
import { describe, expect, test } from "vitest";
import { convert, copy, openArray, openGroup, rechunk, sliceTo } from "../../src/index.ts";
import { type MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { described, references, withoutMissing } from "../support/conventions.ts";
import { type GivenArray, given } from "../support/given.ts";
import { memoryTargets } from "../support/memory-targets.ts";
import { imageAttributes, imageNodes } from "../support/ome-images.ts";

type ZarrFormat = "v2" | "v3";
type Attributes = Readonly<Record<string, unknown>>;

const target = memoryTargets();

function variable(
  shape: readonly number[],
  dimensionNames?: readonly (string | null)[],
  attributes: Attributes = {},
): GivenArray {
  const chunks = shape.map((size) => Math.max(1, Math.ceil(size / 2)));
  const array = { shape, dataType: "int16", chunks, fillValue: -1, attributes };
  return { ...array, ...(dimensionNames && { dimensionNames }) };
}

const crsAttributes = {
  grid_mapping_name: "rotated_latitude_longitude",
  crs_wkt: 'GEOGCRS["unknown",DATUM["World Geodetic System 1984"]]',
  north_pole_grid_latitude: 39.25,
  semi_major_axis: 6_371_229,
};

/** A dataset as CF has it: a rotated grid with coordinates of two dimensions, bounds, and a group with more. */
const cf = (at: string, zarrFormat: ZarrFormat) =>
  given({
    at,
    zarrFormat,
    attributes: { Conventions: "CF-1.11", coordinates: "height", history: "made: éλ" },
    groups: { forecast: { attributes: { institution: "x" } } },
    arrays: {
      time: variable([6], ["time"], { units: "hours since 1970-01-01", bounds: "time_bnds", axis: "T" }),
      time_bnds: variable([6, 2], ["time", "bnds"]),
      rlat: variable([4], ["rlat"], { units: "degrees", _FillValue: -32768 }),
      rlon: variable([5], ["rlon"], { units: "degrees" }),
      lat: variable([4, 5], ["rlat", "rlon"], { units: "degrees_north", valid_range: [-90, 90] }),
      lon: variable([4, 5], ["rlat", "rlon"], { units: "degrees_east" }),
      height: variable([], [], { units: "m", positive: "up" }),
      rotated_pole: variable([], [], crsAttributes),
      areacella: variable([4, 5], ["rlat", "rlon"], { units: "m2" }),
      tas: variable([6, 4, 5], ["time", "rlat", "rlon"], {
        units: "K",
        standard_name: "air_temperature",
        coordinates: "lat lon height",
        grid_mapping: "rotated_pole: lat lon",
        ancillary_variables: "tas_flag",
        cell_measures: "area: areacella",
        scale_factor: 0.01,
        add_offset: 273.15,
        big: 2n ** 60n,
        flag_values: [1, 2, 4],
      }),
      tas_flag: variable([6, 4, 5], ["time", "rlat", "rlon"], { flag_meanings: "good bad" }),
      "forecast/pr": variable([6, 4, 5], ["time", "rlat", "rlon"], {
        coordinates: "lat lon lead",
        grid_mapping: "rotated_pole",
      }),
      "forecast/lead": variable([6], ["time"]),
    },
    consolidated: true,
  });

/** An array that says by `_CRS` where it is, and one with dimensions of which some have no name. */
function gdal(at: string, zarrFormat: ZarrFormat) {
  const _CRS = {
    wkt: "GEOGCRS[]",
    projjson: { type: "GeographicCRS" },
    url: "http://www.opengis.net/def/crs/EPSG/0/4326",
  };
  const dem = variable([6, 4], ["Y", "X"], { _CRS });
  return given({ at, zarrFormat, arrays: { dem, plain: variable([6, 4], undefined, { note: "no names" }) } });
}

/** Levels of an image, with labels in a group of their own. */
function ome(at: string, zarrFormat: ZarrFormat) {
  const shapes = [8, 4].map((size) => [6, size, size]);
  const omero = { channels: [{ color: "FF0000" }] };
  const recipe = {
    zarrFormat,
    axes: ["t", "y", "x"],
    itemSize: [1, 0.5, 0.5],
    shapes,
    labels: ["cells"],
    omero,
  };
  return given({ at, zarrFormat, attributes: imageAttributes(recipe), ...imageNodes(recipe) });
}

/** Overviews as GeoZarr has them: each level a group, named by a layout and, as earlier, by tile matrices. */
function geoZarr(at: string, zarrFormat: ZarrFormat) {
  const multiscales = {
    layout: [{ asset: "0" }, { asset: "1", derived_from: "0", transform: { scale: [2, 2] } }],
    tile_matrix_set: "WebMercatorQuad",
    tile_matrix_limits: { "0": { minTileRow: 0 }, "1": { minTileRow: 0 } },
    resampling_method: "average",
  };
  const arrays: Record<string, GivenArray> = {};
  for (const [level, size] of [8, 4].entries()) {
    arrays[`${level}/spatial_ref`] = variable([], [], crsAttributes);
    arrays[`${level}/time`] = variable([6], ["time"]);
    const gridded = { grid_mapping: "spatial_ref" };
    arrays[`${level}/band`] = variable([6, size, size], ["time", "y", "x"], gridded);
  }
  return given({ at, zarrFormat, attributes: { multiscales }, arrays, consolidated: true });
}

const conventions = [
  ["cf", cf, "time=-1,rlat=1"],
  ["_CRS", gdal, "Y=-1"],
  ["OME-NGFF", ome, "0:3,2,8"],
  ["GeoZarr", geoZarr, "time=-1,y=1"],
] as const;

describe.each(conventions)("%s", (convention, make, chunks) => {
  test.each(["v2", "v3"] as const)(
    "of %s is kept by a copy, other chunks, and the other format",
    async (format) => {
      const source = await make(target("source"), format);
      const [before, named] = [await described(source), await references(source)];
      expect(Object.keys(before).length).toBeGreaterThan(2);
      if (convention !== "_CRS") expect(Object.keys(named).length).toBeGreaterThan(1);
      expect(Object.values(named)).not.toContain(null);

      const other = format === "v2" ? "v3" : "v2";
      const [copied, rechunked, there, back] = ["copied", "rechunked", "there", "back"].map(target) as [
        string,
        string,
        string,
        string,
      ];
      await copy(source, copied);
      await rechunk(source, rechunked, { chunks });
      await convert(source, there, { to: other });
      await convert(there, back, { to: format });
      for (const url of [copied, rechunked, back]) expect(await described(url), url).toEqual(before);
      for (const url of [copied, rechunked, there, back]) expect(await references(url), url).toEqual(named);
      const expected =
        convention === "OME-NGFF" ? await described(await make(target("other"), other)) : before;
      expect(withoutMissing(await described(there))).toEqual(withoutMissing(expected));
    },
  );
});

describe("a slice", () => {
  const shapesOf = (url: string, ...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await openArray(`${url}/${path}`)).shape));

  test.each(["v2", "v3"] as const)(
    "of a CF group in %s says the same, and all it names is there",
    async (format) => {
      const [source, part] = [await cf(target("source"), format), target("part")];
      await sliceTo(source, part, { slice: { time: [1, 3], rlon: [0, 5, 2] } });
      expect(await described(part)).toEqual(await described(source));
      expect(await references(part)).toEqual(await references(source));
      const paths = ["time", "time_bnds", "lat", "tas", "forecast/pr", "forecast/lead"];
      const shapes = [[2], [2, 2], [4, 3], [2, 4, 3], [2, 4, 3], [2]];
      expect(await shapesOf(part, ...paths)).toEqual(shapes);
    },
  );

  test("of an image cuts all levels and their labels, and all it names is there", async () => {
    const [source, part] = [await ome(target("source"), "v3"), target("part")];
    await sliceTo(source, part, { slice: { y: [2, 5], t: [0, 2] } });
    expect(await references(part)).toEqual(await references(source));
    const [large, small] = [
      [2, 3, 8],
      [2, 2, 4],
    ];
    const shapes = await shapesOf(part, "0", "1", "labels/cells/0", "labels/cells/1");
    expect(shapes).toEqual([large, small, large, small]);
  });

  test("of groups with dimensions of different lengths is refused along these where asked to be strict", async () => {
    const source = await geoZarr(target("source"), "v3");
    const slicing = sliceTo(source, target("part"), { slice: { y: [0, 2] }, strict: true });
    await expect(slicing).rejects.toMatchObject({ code: "invalid-selection" });
  });
});

describe("dimension names", () => {
  test("are an attribute in v2 and a member in v3", async () => {
    await convert(await cf(target("source"), "v2"), target("v3"), { to: "v3" });
    const [v2, v3] = ["source", "v3"].map((name) => namedMemoryStore(name)) as [MemoryStore, MemoryStore];
    for (const [path, names] of [
      ["tas", ["time", "rlat", "rlon"]],
      ["height", []],
    ] as const) {
      expect(await jsonAt(v2, `${path}/.zattrs`)).toMatchObject({ _ARRAY_DIMENSIONS: names });
      const { dimension_names, attributes } = await jsonAt(v3, `${path}/zarr.json`);
      expect(dimension_names).toEqual(names);
      expect(attributes).not.toHaveProperty("_ARRAY_DIMENSIONS");
    }
  });

  test("of some dimensions alone are kept in v3, and refused by name in v2", async () => {
    const arrays = { some: variable([6, 4], ["time", null]), none: variable([6, 4], [null, null]) };
    const source = await given({ at: target("source"), zarrFormat: "v3", arrays });
    const [rechunked, part, to] = ["rechunked", "part", "v2"].map(target) as [string, string, string];
    await rechunk(source, rechunked, { chunks: { time: 2 } });
    await sliceTo(source, part, { slice: { time: [0, 2] } });
    for (const url of [rechunked, part]) expect(await described(url), url).toEqual(await described(source));
    await expect(convert(source, to, { to: "v2" })).rejects.toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/dimension_names"] },
    });
    await convert(source, to, { to: "v2", allowLoss: ["/dimension_names"] });
    expect((await openGroup(to)).layout.zarrFormat).toBe("v2");
    expect((await openArray(`${to}/some`)).dimensionNames).toBeUndefined();
  });
});
