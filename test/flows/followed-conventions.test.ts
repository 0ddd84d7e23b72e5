// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  append,
  convert,
  copy,
  deleteNode,
  type FlowEvent,
  open,
  openArray,
  pyramid,
  rechunk,
  renameNode,
  resizeArray,
  slice,
  sliceTo,
  writeRegion,
} from "../../src/index.ts";
import { type MadeMember, makeGroup } from "../support/made-group.ts";
import { memoryTargets } from "../support/memory-targets.ts";

const target = memoryTargets();
type Attributes = Record<string, unknown>;
type Members = Readonly<Record<string, MadeMember>>;
const formats = ["v2", "v3"] as const;

let made = 0;

/** A group in memory, by its URL. */
async function source(members: Members, attributes: Attributes = {}, zarrFormat: "v2" | "v3" = "v3") {
  const url = target(`source-${made++}`);
  await makeGroup(url, members, { zarrFormat, attributes, consolidated: true });
  return url;
}

/** Warnings of a flow, by path: `b02: ...`. */
function heard() {
  const warnings: string[] = [];
  const onEvent = (event: FlowEvent) => {
    if (event.type === "warning") warnings.push(`${event.path ?? ""}: ${event.message}`);
  };
  return { warnings, onEvent };
}

const attributesAt = async (url: string, path: string): Promise<Attributes> =>
  (await open(path === "" ? url : `${url}/${path}`)).attributes;

/** A group without the coordinate of y, to which anything can be appended. */
async function withoutCoordinate(url: string): Promise<string> {
  await deleteNode(`${url}/y`);
  return url;
}

/** A raster of bands, and of what they share. */
function scene(mapping: Attributes = {}, own: Attributes = {}): Members {
  return {
    b02: { shape: [8, 12], dims: ["y", "x"], attributes: { grid_mapping: "spatial_ref", ...own } },
    y: { shape: [8], dims: ["y"] },
    x: { shape: [12], dims: ["x"] },
    spatial_ref: { shape: [], dims: [], attributes: mapping },
  };
}

const GEO = { GeoTransform: "300000 10 0 5000000 0 -10", crs_wkt: "PROJCRS[]" };
const every = { y: [0, 8, 2], x: [0, 12, 2] } as const;

describe.each(formats)("GeoTransform of a grid mapping, %s", (zarrFormat) => {
  test("of each level of a mean, and of a nearest, is of its cells", async () => {
    const url = await source(scene(GEO), {}, zarrFormat);
    const to = target("pyramid");
    await pyramid(url, to, { levels: 3 });
    const at = async (level: string) => (await attributesAt(to, `${level}/spatial_ref`)).GeoTransform;
    expect(await at("0")).toBe("300000 10 0 5000000 0 -10");
    expect(await at("1")).toBe("300000 20 0 5000000 0 -20");
    expect(await at("2")).toBe("300000 40 0 5000000 0 -40");
    await pyramid(url, to, { levels: 2, method: "nearest", ifExists: "replace" });
    expect(await at("1")).toBe("299995 20 0 5000005 0 -20");
  });

  test.each([
    [every, "299995 20 0 5000005 0 -20"],
    [{ y: [2, 6], x: [3, 12] }, "300030 10 0 4999980 0 -10"],
    [{ y: [1, 8, 3] }, "300000 10 0 5000000 0 -30"],
    [{ y: 4 }, "300000 10 0 4999960 0 -10"],
    [{ x: [0, 6] }, "300000 10 0 5000000 0 -10"],
  ] as const)("of a slice %j is that of the cells kept", async (slice, expected) => {
    const url = await source(scene(GEO), {}, zarrFormat);
    const to = target("slice");
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice, onEvent });
    expect((await attributesAt(to, "spatial_ref")).GeoTransform).toBe(expected);
    expect(warnings).toEqual([]);
    const one = target("one");
    await sliceTo(`${url}/b02`, one, { slice });
    expect((await attributesAt(one, "spatial_ref")).GeoTransform).toBe(expected);
  });

  test("stays with rechunk, convert and append", async () => {
    const url = await source(scene(GEO), {}, zarrFormat);
    const to = target("rechunked");
    await rechunk(url, to, { chunks: { y: 4 } });
    await append(url, to, { dim: "y" }).catch(() => {});
    expect(await attributesAt(to, "spatial_ref")).toMatchObject(GEO);
    const other = target("converted");
    await convert(url, other, { to: zarrFormat === "v2" ? "v3" : "v2" });
    expect(await attributesAt(other, "spatial_ref")).toMatchObject(GEO);
  });
});

test("keeps the words of numbers, and rotated rasters turn about their own corner", async () => {
  const url = await source(scene({ GeoTransform: "300000.0 10.0 1.0 5000000.5 2.0 -10.0" }));
  const to = target("slice");
  await sliceTo(url, to, { slice: { y: [2, 8], x: [1, 12] } });
  expect((await attributesAt(to, "spatial_ref")).GeoTransform).toBe("300012.0 10.0 1.0 4999982.5 2.0 -10.0");
});

test("a mapping of rasters that are cut differently loses its GeoTransform, with a warning", async () => {
  const url = await source({
    ...scene(GEO),
    b03: { shape: [8, 6], dims: ["y", "x2"], attributes: { grid_mapping: "spatial_ref" } },
  });
  const to = target("slice");
  const { warnings, onEvent } = heard();
  await sliceTo(url, to, { slice: { x: [2, 6] }, onEvent });
  expect(await attributesAt(to, "spatial_ref")).toEqual({ crs_wkt: "PROJCRS[]" });
  expect(warnings).toEqual([
    "spatial_ref: `GeoTransform` left out: arrays that it describes are cut differently",
  ]);
});

const SPATIAL = {
  "spatial:dimensions": ["y", "x"],
  "spatial:transform": [10, 0, 300000, 0, -10, 5000000],
  "spatial:shape": [8, 12],
  "spatial:bbox": [300000, 4999920, 300120, 5000000],
};
const PROJ = {
  "proj:epsg": 32632,
  "proj:transform": [10, 0, 300000, 0, -10, 5000000, 0, 0, 1],
  "proj:shape": [8, 12],
  "proj:bbox": [300000, 4999920, 300120, 5000000],
};

describe.each(["array", "group"])("spatial: and proj: of an %s", (where) => {
  const place = (own: Attributes) => (where === "array" ? source(scene({}, own)) : source(scene(), own));
  const path = where === "array" ? "b02" : "";

  test("follow a slice", async () => {
    const to = target("slice");
    await sliceTo(await place({ ...SPATIAL, ...PROJ }), to, { slice: every });
    expect(await attributesAt(to, path)).toMatchObject({
      "spatial:transform": [20, 0, 299995, 0, -20, 5000005],
      "spatial:shape": [4, 6],
      "spatial:bbox": [299995, 4999925, 300115, 5000005],
      "proj:epsg": 32632,
      "proj:transform": [20, 0, 299995, 0, -20, 5000005, 0, 0, 1],
      "proj:shape": [4, 6],
      "proj:bbox": [299995, 4999925, 300115, 5000005],
    });
  });

  test("follow each level of a pyramid", async () => {
    const to = target("pyramid");
    await pyramid(await place({ ...SPATIAL, ...PROJ }), to, { levels: 2 });
    expect(await attributesAt(to, where === "array" ? "0/b02" : "0")).toMatchObject({ ...SPATIAL, ...PROJ });
    expect(await attributesAt(to, where === "array" ? "1/b02" : "1")).toMatchObject({
      ...SPATIAL,
      ...PROJ,
      "spatial:transform": [20, 0, 300000, 0, -20, 5000000],
      "spatial:shape": [4, 6],
      "proj:transform": [20, 0, 300000, 0, -20, 5000000, 0, 0, 1],
      "proj:shape": [4, 6],
    });
  });

  test("follow an append along y, and a resize", async () => {
    const url = await place({ ...SPATIAL, ...PROJ });
    const { y: _, ...withoutY } = scene();
    await append(await source(withoutY), await withoutCoordinate(url), { dim: "y" });
    expect(await attributesAt(url, path)).toMatchObject({
      "spatial:transform": SPATIAL["spatial:transform"],
      "spatial:shape": [16, 12],
      "spatial:bbox": [300000, 4999840, 300120, 5000000],
      "proj:shape": [16, 12],
    });
    await resizeArray(`${url}/b02`, [10, 12]);
    expect(await attributesAt(url, path)).toMatchObject({
      "spatial:transform": SPATIAL["spatial:transform"],
      "spatial:shape": [10, 12],
      "spatial:bbox": [300000, 4999900, 300120, 5000000],
      "proj:shape": [10, 12],
    });
  });
});

describe("other places of a raster", () => {
  test("are scaled, or left out where they cannot be, with a warning", async () => {
    const url = await source(
      scene(
        {},
        {
          ...{ transform: [10, 0, 300000, 0, -10, 5000000], res: [10, 10], crs: "EPSG:32632" },
          "geo:proj": { spatial_dims: ["y", "x"], transform: [10, 0, 0, 0, -10, 80], bbox: [0, 0, 120, 80] },
          geo: { proj: { spatial_dimensions: ["y", "x"], transform: [10, 0, 0, 0, -10, 80] } },
          ...{ "proj:centroid": { lat: 1, lon: 2 }, "proj:geometry": {}, "proj:code": "EPSG:32632" },
        },
      ),
    );
    const to = target("slice");
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice: { y: [4, 8], x: [0, 12, 2] }, onEvent });
    expect(await attributesAt(to, "b02")).toEqual({
      grid_mapping: "spatial_ref",
      ...{ transform: [20, 0, 299995, 0, -10, 4999960], res: [20, 10], crs: "EPSG:32632" },
      "geo:proj": {
        spatial_dims: ["y", "x"],
        transform: [20, 0, -5, 0, -10, 40],
        bbox: [-5, 0, 115, 40],
      },
      geo: { proj: { spatial_dimensions: ["y", "x"], transform: [20, 0, -5, 0, -10, 40] } },
      "proj:code": "EPSG:32632",
    });
    expect(warnings).toEqual([
      "b02: `proj:geometry`, `proj:centroid` left out: it cannot be computed for the new grid",
    ]);
  });

  test("of the nodes of a grid count from the first node, and a bbox without a transform is left out", async () => {
    const url = await source({
      node: {
        ...{ shape: [5, 7], dims: ["time", "x"] },
        attributes: { "spatial:dimensions": ["y", "x"], "spatial:transform": [1, 0, 0, 0, -1, 4] },
      },
      dem: {
        ...{ shape: [5, 7], dims: ["y", "x"] },
        attributes: {
          ...{ "spatial:dimensions": ["y", "x"], "spatial:registration": "node" },
          ...{ "spatial:transform": [1, 0, 0, 0, -1, 4], "spatial:bbox": [0, 0, 6, 4] },
        },
      },
      boxed: { shape: [5, 7], dims: ["y", "x"], attributes: { "spatial:bbox": [0, 0, 7, 5] } },
    });
    const to = target("slice");
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice: { y: [0, 5, 2], x: [2, 7, 2] }, onEvent });
    expect(await attributesAt(to, "dem")).toMatchObject({
      "spatial:transform": [2, 0, 2, 0, -2, 4],
      "spatial:bbox": [2, 0, 6, 4],
    });
    expect(await attributesAt(to, "node")).toMatchObject({ "spatial:transform": [1, 0, 0, 0, -1, 4] });
    expect(warnings).toEqual(["boxed: `spatial:bbox` left out: it cannot be computed for the new grid"]);
  });

  test("in a STAC item are left out, and the rest of it stays", async () => {
    const stac_discovery = {
      ...{ type: "Feature", id: "S2A", bbox: [1, 2, 3, 4], geometry: { type: "Polygon" } },
      properties: { "proj:epsg": 32632, "proj:shape": [8, 12], start_datetime: "2020-01-01T00:00:00Z" },
      assets: { b02: { "proj:transform": [10, 0, 0, 0, -10, 0], title: "blue" } },
    };
    const url = await source(scene(), { stac_discovery });
    const to = target("slice");
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice: { y: [4, 8] }, onEvent });
    expect((await attributesAt(to, "")).stac_discovery).toEqual({
      ...{ type: "Feature", id: "S2A" },
      properties: { "proj:epsg": 32632, start_datetime: "2020-01-01T00:00:00Z" },
      assets: { b02: { title: "blue" } },
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("`proj:shape`");
  });
});

describe("multiscales of GeoZarr", () => {
  const level = (shape: readonly number[]): MadeMember => ({ shape, dims: ["y", "x"] });
  const layout = [
    { asset: "r10m", "spatial:shape": [8, 12], "spatial:transform": [10, 0, 0, 0, -10, 0] },
    { asset: "r20m", derived_from: "r10m", transform: { scale: [2, 2] }, "spatial:shape": [4, 6] },
  ];
  const members = { "r10m/b02": level([8, 12]), "r20m/b02": level([4, 6]) };

  test("lists the levels that are there, each as it is", async () => {
    const url = await source(members, {
      multiscales: { layout },
      zarr_conventions: [{ name: "multiscales" }],
    });
    const to = target("one");
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice: { y: [2, 6] }, include: "r10m", onEvent });
    expect((await attributesAt(to, "")).multiscales).toEqual({
      layout: [{ asset: "r10m", "spatial:shape": [4, 12], "spatial:transform": [10, 0, 0, 0, -10, -20] }],
    });
    expect(warnings).toEqual([": `multiscales`: 1 of 2 levels left out: they are not in the target"]);
    const small = target("small");
    await copy(url, small, { include: "r20m", onEvent });
    expect((await attributesAt(small, "")).multiscales).toEqual({
      layout: [{ asset: "r20m", "spatial:shape": [4, 6] }],
    });
    await copy(url, small, { exclude: "r*", onEvent, ifExists: "replace" });
    expect(await attributesAt(small, "")).toEqual({ zarr_conventions: [] });
    await rechunk(url, to, { chunks: { y: 4 }, ifExists: "replace" });
    expect((await attributesAt(to, "")).multiscales).toEqual({ layout });
  });

  test("has tiles of the new chunks, and none of a part", async () => {
    const matrix = (id: string, [height, width]: readonly [number, number]) => ({
      ...{ id, cellSize: 10, pointOfOrigin: [0, 0], tileWidth: 2, tileHeight: 2 },
      ...{ matrixWidth: width / 2, matrixHeight: height / 2 },
    });
    const tileMatrices = [matrix("r10m", [8, 12]), matrix("r20m", [4, 6])];
    const multiscales = {
      ...{ tile_matrix_set: { id: "own", tileMatrices }, tile_matrix_limits: { r10m: {} } },
      resampling_method: "average",
    };
    const url = await source(members, { multiscales });
    const to = target("tiles");
    await rechunk(url, to, { chunks: { y: 4, x: 3 } });
    expect((await attributesAt(to, "")).multiscales).toMatchObject({
      tile_matrix_set: {
        tileMatrices: [
          { id: "r10m", tileWidth: 3, tileHeight: 4, matrixWidth: 4, matrixHeight: 2, cellSize: 10 },
          { id: "r20m", tileWidth: 3, tileHeight: 4, matrixWidth: 2, matrixHeight: 1 },
        ],
      },
    });
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice: { y: [2, 6] }, include: "r10m", onEvent, ifExists: "replace" });
    expect(await attributesAt(to, "")).toEqual({});
    expect(warnings).toEqual([
      ": `multiscales`: `tile_matrix_set`, `tile_matrix_limits` left out: the data are cut or resampled",
    ]);
  });
});

describe("attributes of CF", () => {
  const CF = { units: "K", actual_range: [0, 95], valid_range: [0, 100], STATISTICS_MEAN: 4 };

  test("say how blocks became cells, and no longer the range of others", async () => {
    const url = await source({
      ...scene({}, { ...CF, cell_methods: "time: mean" }),
      flags: { shape: [8, 12], dims: ["y", "x"], attributes: { units: "1", flag_values: [0, 1] } },
      plain: { shape: [8, 12], dims: ["y", "x"] },
    });
    const to = target("pyramid");
    const { warnings, onEvent } = heard();
    await pyramid(url, to, { levels: 3, onEvent });
    expect(await attributesAt(to, "0/b02")).toMatchObject({ ...CF, cell_methods: "time: mean" });
    expect(await attributesAt(to, "2/b02")).toEqual({
      ...{ units: "K", valid_range: [0, 100], grid_mapping: "spatial_ref" },
      cell_methods: "time: mean y: x: mean",
    });
    expect(await attributesAt(to, "1/flags")).toMatchObject({ cell_methods: "y: x: mode" });
    expect(await attributesAt(to, "1/plain")).toEqual({});
    expect(await attributesAt(to, "1/y")).toEqual({});
    expect(warnings).toEqual([
      "b02: `actual_range`, `STATISTICS_MEAN` left out: computed of all items, of which the target has others",
    ]);
    await pyramid(url, to, { levels: 2, method: "max", factor: { x: 2, y: 1 }, ifExists: "replace" });
    expect(await attributesAt(to, "1/b02")).toMatchObject({ cell_methods: "time: mean x: maximum" });
    await pyramid(url, to, { levels: 2, method: "nearest", ifExists: "replace" });
    expect(await attributesAt(to, "1/b02")).toMatchObject({ cell_methods: "time: mean" });
  });

  test("stay where all items do, and lose the range of a part", async () => {
    const url = await source(scene({}, CF));
    const to = target("slice");
    await sliceTo(url, to, { slice: { y: [0, 4] } });
    expect(await attributesAt(to, "b02")).not.toHaveProperty("actual_range");
    expect(await attributesAt(to, "b02")).toMatchObject({ valid_range: [0, 100] });
    await sliceTo(url, to, { slice: { y: [0, 8] }, chunks: { y: 4 }, ifExists: "replace" });
    expect(await attributesAt(to, "b02")).toMatchObject(CF);
  });

  test("of integers of the other sign are what they mean where a level has doubles", async () => {
    const attributes = { _Unsigned: "true", valid_range: [0, -1], scale_factor: 2 };
    const url = await source({
      b: { shape: [4, 4], dims: ["y", "x"] },
      x: { shape: [4], dims: ["x"], attributes },
    });
    const place = await openArray(`${url}/x`);
    await writeRegion(place, { x: [0, 4] }, Int32Array.of(-4, -2, 0, 2));
    const to = target("pyramid");
    await pyramid(url, to, { levels: 2 });
    expect(await attributesAt(to, "0/x")).toEqual(attributes);
    expect(await attributesAt(to, "1/x")).toEqual({ valid_range: [0, 2 ** 32 - 1], scale_factor: 2 });
    expect([...(await slice(`${to}/1/x`).read()).data]).toEqual([2 ** 32 - 3, 1]);
  });

  test("of indices and counts along a dimension that is cut are left out", async () => {
    const url = await source({
      landpoint: { shape: [5], dims: ["landpoint"], attributes: { compress: "lat lon" } },
      lat: { shape: [8], dims: ["lat"] },
      row_size: { shape: [3], dims: ["station"], attributes: { sample_dimension: "obs" } },
      station_index: { shape: [9], dims: ["obs"], attributes: { instance_dimension: "station" } },
    });
    const to = target("slice");
    const { warnings, onEvent } = heard();
    await sliceTo(url, to, { slice: { lat: [0, 4], obs: [0, 4] }, onEvent });
    expect(await attributesAt(to, "landpoint")).toEqual({});
    expect(await attributesAt(to, "row_size")).toEqual({});
    expect(await attributesAt(to, "station_index")).toEqual({ instance_dimension: "station" });
    expect(warnings).toHaveLength(2);
  });
});

const ACDD = {
  ...{ geospatial_lat_min: 1, geospatial_lon_max: 4, geospatial_lat_resolution: 0.5 },
  ...{ time_coverage_start: "2020-01-01", time_coverage_end: "2020-01-06", time_coverage_resolution: "P1D" },
  ...{ geospatial_vertical_min: 0, title: "kept" },
};
const cube: Members = {
  t: { shape: [6, 4, 8], dims: ["when", "lat", "lon"] },
  when: { shape: [6], dims: ["when"], attributes: { units: "days since 2020-01-01" } },
};

test.each([
  [{ when: [2, 4] }, ["time_coverage_start", "time_coverage_end"]],
  [{ when: [0, 4] }, ["time_coverage_end"]],
  [{ when: [0, 6, 2] }, ["time_coverage_end", "time_coverage_resolution"]],
  [{ lat: [0, 2] }, ["geospatial_lat_min", "geospatial_lon_max"]],
] as const)("ACDD: a slice %j leaves out %j, with a warning", async (slice, lost) => {
  const to = target("slice");
  const { warnings, onEvent } = heard();
  await sliceTo(await source(cube, ACDD), to, { slice, onEvent });
  const left = Object.entries(ACDD).filter(([name]) => !lost.some((one) => one === name));
  expect(await attributesAt(to, "")).toEqual(Object.fromEntries(left));
  expect(warnings).toHaveLength(1);
  for (const name of lost) expect(warnings[0]).toContain(`\`${name}\``);
});

test("ACDD: a level has no resolution of another, and an append no end", async () => {
  const to = target("pyramid");
  await pyramid(await source(cube, ACDD), to, { levels: 2 });
  const { geospatial_lat_resolution: _, ...rest } = ACDD;
  expect(await attributesAt(to, "0")).toEqual(ACDD);
  expect(await attributesAt(to, "1")).toEqual(rest);
  const days = (time: number): Members => ({ t: { shape: [time, 4, 8], dims: ["time", "lat", "lon"] } });
  const grown = await source(days(6), ACDD);
  const { warnings, onEvent } = heard();
  await append(await source(days(2)), grown, { dim: "time", onEvent });
  const { time_coverage_end: __, ...started } = ACDD;
  expect(await attributesAt(grown, "")).toEqual(started);
  expect(warnings).toEqual([expect.stringContaining("time_coverage_end")]);
});

test("levels of one array say where they lie", async () => {
  const url = await source(scene({}, { ...PROJ, actual_range: [0, 95] }));
  const to = target("image");
  const { warnings, onEvent } = heard();
  await pyramid(`${url}/b02`, to, { levels: 2, onEvent });
  expect(await attributesAt(to, "0")).toMatchObject({ ...PROJ, actual_range: [0, 95] });
  expect(await attributesAt(to, "1")).toEqual({
    ...{ ...PROJ, "proj:shape": [4, 6], grid_mapping: "spatial_ref", cell_methods: "y: x: mean" },
    "proj:transform": [20, 0, 300000, 0, -20, 5000000, 0, 0, 1],
  });
  expect(warnings).toHaveLength(1);
});

test("attributes that repeat the chunk shape follow where they did", async () => {
  const url = await source({
    a: {
      ...{ shape: [8, 12], dims: ["y", "x"] },
      attributes: { _ChunkSizes: [2, 2], preferred_chunks: { y: 2, x: 2 }, chunks: [7, 7] },
    },
    b: { shape: [9], dims: ["z"], attributes: { _ChunkSizes: 2 } },
  });
  const to = target("chunks");
  await rechunk(url, to, { chunks: { y: 4, x: 3 } });
  const after = { _ChunkSizes: [4, 3], preferred_chunks: { y: 4, x: 3 }, chunks: [7, 7] };
  expect(await attributesAt(to, "a")).toEqual(after);
  await rechunk(url, to, { chunks: { z: 5 }, ifExists: "replace" });
  expect(await attributesAt(to, "b")).toEqual({ _ChunkSizes: 5 });
  await sliceTo(url, to, { slice: { y: [0, 1] }, ifExists: "replace" });
  expect(await attributesAt(to, "a")).toMatchObject({ _ChunkSizes: [1, 2] });
});

describe.each(["attributes", "documents of 4.8"])("NCZarr in %s", (where) => {
  const isOld = where !== "attributes";
  const names = isOld ? ["_NCZARR_GROUP", "_NCZARR_ARRAY"] : ["_nczarr_group", "_nczarr_array"];
  const [groupName = "", arrayName = ""] = names;
  const array = (...dims: string[]) => ({
    [arrayName]: { [isOld ? "dimrefs" : "dimension_references"]: dims, storage: "contiguous" },
  });
  const groupOf = (dims: object, arrays: string[], groups: string[]) => ({
    [groupName]: isOld ? { dims, vars: arrays, groups } : { dimensions: dims, arrays, groups },
  });

  async function nczarr(time = 4) {
    const url = await source(
      {
        t: { shape: [time, 8], dims: ["time", "y"], attributes: array("/time", "/y") },
        "g/w": { shape: [8], dims: ["y"], attributes: array("/y") },
      },
      {
        ...groupOf({ time: { size: time, unlimited: 1 }, y: 8 }, ["t"], ["g"]),
        [isOld ? "_NCZARR_SUPERBLOCK" : "_nczarr_superblock"]: { version: "2.0.0" },
      },
    );
    if (!isOld) return url;
    const old = target(`old-${made++}`);
    await convert(url, old, { to: "v2" });
    return old;
  }

  /** The object of NCZarr of a node, wherever it is. */
  async function own(url: string, path: string) {
    const { metadata } = await open(path === "" ? url : `${url}/${path}`);
    const name = metadata.kind === "group" ? groupName : arrayName;
    return metadata.attributes[name] ?? metadata.extra?.json[name];
  }
  const sizes = (dims: object, arrays: string[], groups: string[]) =>
    expect.objectContaining(Object.values(groupOf(dims, arrays, groups))[0] as object);

  test("has the sizes and members of a slice, and is chunked where it is", async () => {
    const to = target("slice");
    await sliceTo(await nczarr(), to, { slice: { time: [0, 3], y: [1, 7, 2] } });
    expect(await own(to, "")).toEqual(sizes({ time: { size: 3, unlimited: 1 }, y: 3 }, ["t"], ["g"]));
    expect(await own(to, "t")).toMatchObject({ storage: "chunked" });
    await copy(await nczarr(), to, { exclude: "g", ifExists: "replace" });
    expect(await own(to, "")).toEqual(sizes({ time: { size: 4, unlimited: 1 }, y: 8 }, ["t"], []));
  });

  test("has the size of an append and of a resize; an array of another length gets a dimension", async () => {
    const url = await nczarr();
    await append(await nczarr(2), url, { dim: "time" });
    expect(await own(url, "")).toEqual(sizes({ time: { size: 6, unlimited: 1 }, y: 8 }, ["t"], ["g"]));
    await renameNode(`${url}/t`, "u");
    expect(await own(url, "")).toEqual(sizes({ time: { size: 6, unlimited: 1 }, y: 8 }, ["u"], ["g"]));
    await renameNode(`${url}/u`, "t");
    const warnings: string[] = [];
    await resizeArray(`${url}/t`, [7, 5], { onWarning: ({ message }) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining("`y_")]);
    const group = (await own(url, "")) as { dimensions?: object; dims?: object };
    expect(Object.keys(group.dimensions ?? group.dims ?? {})).toHaveLength(3);
    await deleteNode(`${url}/t`);
    await deleteNode(`${url}/g`);
    expect(await own(url, "")).toEqual(sizes(expect.anything(), [], []));
  });
});

describe.each(formats)("members of OME-Zarr that a copy leaves out, %s", (zarrFormat) => {
  const ome = (metadata: Attributes) =>
    zarrFormat === "v3" ? { ome: { version: "0.5", ...metadata } } : metadata;
  const stated = (attributes: Attributes) =>
    (zarrFormat === "v3" ? attributes.ome : attributes) as Attributes;
  const wells = ["A/1", "A/2", "B/1"].map((path, i) => ({
    path,
    rowIndex: Math.floor(i / 2),
    columnIndex: i % 2,
  }));
  const plate = { rows: [{ name: "A" }, { name: "B" }], columns: [{ name: "1" }, { name: "2" }], wells };
  const image = { shape: [2], dims: ["x"] };
  const datasets = ["0", "1"].map((path) => ({ path }));

  test("are not listed: wells of a plate", async () => {
    const members = Object.fromEntries(wells.map(({ path }) => [`${path}/0/0`, image]));
    const url = await source(members, ome({ plate }), zarrFormat);
    const to = target("plate");
    const { warnings, onEvent } = heard();
    await copy(url, to, { include: "A", onEvent });
    expect(stated(await attributesAt(to, ""))).toMatchObject({
      plate: { ...plate, wells: wells.slice(0, 2) },
    });
    expect(warnings).toContain(": `plate.wells`: B/1 left out: it is not in the target");
    await deleteNode(`${to}/A/1`);
    expect(stated(await attributesAt(to, ""))).toMatchObject({ plate: { wells: wells.slice(1, 2) } });
  });

  test("are not listed: levels of an image", async () => {
    const url = await source({ 0: image, 1: image }, ome({ multiscales: [{ datasets }] }), zarrFormat);
    const to = target("levels");
    await copy(url, to, { exclude: "1" });
    expect(stated(await attributesAt(to, ""))).toMatchObject({
      multiscales: [{ datasets: datasets.slice(0, 1) }],
    });
  });
});
