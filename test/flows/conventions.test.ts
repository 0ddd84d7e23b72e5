// @module-tag slow
import { describe, expect, test } from "vitest";
import { convert, copy, openArray, openGroup, rechunk, sliceTo } from "../../src/index.ts";
import { MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { described, references, withoutMissing } from "../support/conventions.ts";
import { type GivenArray, given } from "../support/given.ts";
import { memoryTargets } from "../support/memory-targets.ts";

type FormatDefinition = "v2" | "v3";
type Attributes = Readonly<Record<string, unknown>>;

const zarrFormats: FormatDefinition[] = ["v2", "v3"];

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

/** A data set as CF has it: a rotated grid with coordinates of two dimensions, bounds, and a group with more. */
const cf = (at: string, zarrFormat: FormatDefinition) =>
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
function gdal(at: string, zarrFormat: FormatDefinition) {
  const _CRS = {
    wkt: "GEOGCRS[]",
    projjson: { type: "GeographicCRS" },
    url: "http://www.opengis.net/def/crs/EPSG/0/4326",
  };
  const dem = variable([6, 4], ["Y", "X"], { _CRS });
  return given({ at, zarrFormat, arrays: { dem, plain: variable([6, 4], undefined, { note: "no names" }) } });
}

const omeMultiscales = (version: string) => [
  {
    ...(version === "0.4" && { version }),
    name: "image",
    axes: ["t", "y", "x"].map((name) => ({ name, type: name === "t" ? "time" : "space" })),
    datasets: ["0", "1"].map((path, level) => ({
      path,
      coordinateTransformations: [{ type: "scale", scale: [1, 0.5 * 2 ** level, 0.5 * 2 ** level] }],
    })),
    type: "gaussian",
  },
];

/** Levels of an image, with labels in a group of their own. */
function ome(at: string, zarrFormat: FormatDefinition) {
  const of = (more: Attributes = {}) =>
    zarrFormat === "v2"
      ? { multiscales: omeMultiscales("0.4"), ...more }
      : { ome: { version: "0.5", multiscales: omeMultiscales("0.5"), ...more } };
  const names = zarrFormat === "v2" ? undefined : ["t", "y", "x"];
  const listed = { labels: ["cells"] };
  const [large, small] = [variable([6, 8, 8], names), variable([6, 4, 4], names)];
  return given({
    at,
    zarrFormat,
    attributes: of({ omero: { channels: [{ color: "FF0000" }] } }),
    groups: {
      labels: { attributes: zarrFormat === "v2" ? listed : { ome: { version: "0.5", ...listed } } },
      "labels/cells": { attributes: of({ "image-label": { source: { image: "../../" } } }) },
    },
    arrays: { 0: large, 1: small, "labels/cells/0": large, "labels/cells/1": small },
  });
}

/** Overviews as GeoZarr has them: each level a group, named by a layout and, as earlier, by tile matrices. */
function geoZarr(at: string, zarrFormat: FormatDefinition) {
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

const conventions = { cf, _CRS: gdal, "OME-NGFF": ome, GeoZarr: geoZarr };
const chunks: Record<keyof typeof conventions, string> = {
  cf: "time=-1,rlat=1",
  _CRS: "Y=-1",
  "OME-NGFF": "0:3,2,8",
  GeoZarr: "time=-1,y=1",
};

describe.each(Object.entries(conventions))("%s", (convention, make) => {
  describe.each(zarrFormats)("in %s", (zarrFormat) => {
    async function made() {
      const source = target("source");
      await make(source, zarrFormat);
      return { source, before: await described(source), named: await references(source) };
    }

    test("the group names what is there", async () => {
      const { before, named } = await made();
      expect(Object.keys(before).length).toBeGreaterThan(2);
      if (convention !== "_CRS") expect(Object.keys(named).length).toBeGreaterThan(1);
      expect(Object.values(named)).not.toContain(null);
    });

    test("a copy, and one with other chunks", async () => {
      const { source, before, named } = await made();
      await copy(source, target("copied"));
      await rechunk(source, target("rechunked"), { chunks: chunks[convention as keyof typeof chunks] });
      for (const url of ["memory:copied", "memory:rechunked"]) {
        expect(await described(url), url).toEqual(before);
        expect(await references(url), url).toEqual(named);
      }
    });

    test("there and back through the other format", async () => {
      const { source, before, named } = await made();
      const other = zarrFormat === "v2" ? "v3" : "v2";
      const [there, back] = [target("there"), target("back")];
      await convert(source, there, { to: other });
      await convert(there, back, { to: zarrFormat });
      await make(target("other"), other);
      const expected = convention === "OME-NGFF" ? await described("memory:other") : before;
      expect(withoutMissing(await described(there))).toEqual(withoutMissing(expected));
      expect(await described(back)).toEqual(before);
      for (const url of [there, back]) expect(await references(url), url).toEqual(named);
    });
  });
});

describe("a slice", () => {
  test.each(zarrFormats)(
    "of a CF group in %s says the same, and all it names is there",
    async (zarrFormat) => {
      const source = target("source");
      await cf(source, zarrFormat);
      await sliceTo(source, target("part"), { slice: { time: [1, 3], rlon: [0, 5, 2] } });
      expect(await described("memory:part")).toEqual(await described(source));
      expect(await references("memory:part")).toEqual(await references(source));
      const shapes = await Promise.all(
        ["time", "time_bnds", "lat", "tas", "forecast/pr", "forecast/lead"].map(
          async (path) => (await openArray(`memory:part/${path}`)).shape,
        ),
      );
      expect(shapes).toEqual([[2], [2, 2], [4, 3], [2, 4, 3], [2, 4, 3], [2]]);
    },
  );

  test("of an image cuts all levels and their labels, and all it names is there", async () => {
    const source = target("source");
    await ome(source, "v3");
    const part = target("part");
    await sliceTo(source, part, { slice: { y: [2, 5], t: [0, 2] } });
    expect(await references(part)).toEqual(await references(source));
    const shapes = await Promise.all(
      ["0", "1", "labels/cells/0", "labels/cells/1"].map(
        async (path) => (await openArray(`${part}/${path}`)).shape,
      ),
    );
    expect(shapes).toEqual([
      [2, 3, 8],
      [2, 2, 4],
      [2, 3, 8],
      [2, 2, 4],
    ]);
  });

  test("of groups with dimensions of different lengths is refused along these where asked to be strict", async () => {
    const source = target("source");
    await geoZarr(source, "v3");
    const slicing = sliceTo(source, target("part"), { slice: { y: [0, 2] }, strict: true });
    await expect(slicing).rejects.toMatchObject({ code: "invalid-selection" });
  });
});

describe("dimension names", () => {
  test("are an attribute in v2 and a member in v3", async () => {
    const source = target("source");
    await cf(source, "v2");
    await convert(source, target("v3"), { to: "v3" });
    const v2 = namedMemoryStore("source") ?? new MemoryStore();
    const v3 = namedMemoryStore("v3") ?? new MemoryStore();
    expect(await jsonAt(v2, "tas/.zattrs")).toMatchObject({ _ARRAY_DIMENSIONS: ["time", "rlat", "rlon"] });
    const document = await jsonAt(v3, "tas/zarr.json");
    expect(document.dimension_names).toEqual(["time", "rlat", "rlon"]);
    expect(document.attributes).not.toHaveProperty("_ARRAY_DIMENSIONS");
    expect(await jsonAt(v2, "height/.zattrs")).toMatchObject({ _ARRAY_DIMENSIONS: [] });
    expect((await jsonAt(v3, "height/zarr.json")).dimension_names).toEqual([]);
  });

  test("of some dimensions alone are kept in v3, and refused by name in v2", async () => {
    const arrays = { some: variable([6, 4], ["time", null]), none: variable([6, 4], [null, null]) };
    const source = await given({ at: target("source"), zarrFormat: "v3", arrays });
    const before = await described(source);
    await rechunk(source, target("rechunked"), { chunks: { time: 2 } });
    await sliceTo(source, target("part"), { slice: { time: [0, 2] } });
    for (const url of ["memory:rechunked", "memory:part"]) expect(await described(url), url).toEqual(before);
    const to = target("v2");
    await expect(convert(source, to, { to: "v2" })).rejects.toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/dimension_names"] },
    });
    await convert(source, to, { to: "v2", allowLoss: ["/dimension_names"] });
    expect((await openGroup(to)).layout.zarrFormat).toBe("v2");
    expect((await openArray(`${to}/some`)).dimensionNames).toBeUndefined();
  });
});
