// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  append,
  convert,
  copy,
  deleteNode,
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
import { heard } from "../support/heard.ts";
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

const attributesAt = async (url: string, path: string): Promise<Attributes> =>
  (await open(path === "" ? url : `${url}/${path}`)).attributes;

/** What a slice of a group, or of a node of it, states at a path, and its warnings. */
async function sliced(url: string, options: Parameters<typeof sliceTo>[2], path = "") {
  const { warnings, onEvent } = heard();
  const to = target("slice");
  await sliceTo(url, to, { ...options, onEvent });
  return { to, warnings, attributes: await attributesAt(to, path) };
}

/** The same of a pyramid of two levels, or more. */
async function levelsOf(url: string, options: Parameters<typeof pyramid>[2] = {}) {
  const { warnings, onEvent } = heard();
  const to = target("pyramid");
  await pyramid(url, to, { levels: 2, ...options, onEvent });
  return { warnings, at: (path: string) => attributesAt(to, path) };
}

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
    const mean = await levelsOf(url, { levels: 3 });
    for (const [level, size] of [10, 20, 40].entries()) {
      const { GeoTransform } = await mean.at(`${level}/spatial_ref`);
      expect(GeoTransform).toBe(`300000 ${size} 0 5000000 0 -${size}`);
    }
    const nearest = await levelsOf(url, { method: "nearest" });
    expect((await nearest.at("1/spatial_ref")).GeoTransform).toBe("299995 20 0 5000005 0 -20");
  });

  test.each([
    [every, "299995 20 0 5000005 0 -20"],
    [{ y: [2, 6], x: [3, 12] }, "300030 10 0 4999980 0 -10"],
    [{ y: [1, 8, 3] }, "300000 10 0 5000000 0 -30"],
    [{ y: 4 }, "300000 10 0 4999960 0 -10"],
    [{ x: [0, 6] }, "300000 10 0 5000000 0 -10"],
  ] as const)("of a slice %j is that of the cells kept", async (slice, GeoTransform) => {
    const url = await source(scene(GEO), {}, zarrFormat);
    for (const from of [url, `${url}/b02`]) {
      const { attributes, warnings } = await sliced(from, { slice }, "spatial_ref");
      expect(attributes).toMatchObject({ GeoTransform });
      expect(warnings).toEqual([]);
    }
  });

  test("stays with rechunk, convert and append", async () => {
    const url = await source(scene(GEO), {}, zarrFormat);
    const [to, other] = [target("rechunked"), target("converted")];
    await rechunk(url, to, { chunks: { y: 4 } });
    const next = await source(scene({ GeoTransform: "300000 10 0 4999920 0 -10" }), {}, zarrFormat);
    await append(await withoutCoordinate(next), await withoutCoordinate(to), { dim: "y" });
    expect((await openArray(`${to}/b02`)).shape).toEqual([16, 12]);
    await convert(url, other, { to: zarrFormat === "v2" ? "v3" : "v2" });
    for (const each of [to, other]) expect(await attributesAt(each, "spatial_ref")).toMatchObject(GEO);
  });
});

test("keeps the words of numbers, and rotated rasters turn about their own corner", async () => {
  const url = await source(scene({ GeoTransform: "300000.0 10.0 1.0 5000000.5 2.0 -10.0" }));
  const { attributes } = await sliced(url, { slice: { y: [2, 8], x: [1, 12] } }, "spatial_ref");
  expect(attributes.GeoTransform).toBe("300012.0 10.0 1.0 4999982.5 2.0 -10.0");
});

test("a mapping of rasters that are cut differently loses its GeoTransform, with a warning", async () => {
  const b03 = { shape: [8, 6], dims: ["y", "x2"], attributes: { grid_mapping: "spatial_ref" } };
  const { attributes, warnings } = await sliced(
    await source({ ...scene(GEO), b03 }),
    { slice: { x: [2, 6] } },
    "spatial_ref",
  );
  expect(attributes).toEqual({ crs_wkt: "PROJCRS[]" });
  const words = "`GeoTransform` dropped: arrays that it describes are sliced differently";
  expect(warnings).toEqual([`spatial_ref: ${words}`]);
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

  test("follow a slice, and each level of a pyramid", async () => {
    const url = await place({ ...SPATIAL, ...PROJ });
    const bbox = [299995, 4999925, 300115, 5000005];
    expect((await sliced(url, { slice: every }, path)).attributes).toMatchObject({
      ...{ "spatial:transform": [20, 0, 299995, 0, -20, 5000005], "spatial:shape": [4, 6] },
      ...{ "spatial:bbox": bbox, "proj:epsg": 32632, "proj:shape": [4, 6], "proj:bbox": bbox },
      "proj:transform": [20, 0, 299995, 0, -20, 5000005, 0, 0, 1],
    });
    const { at } = await levelsOf(url);
    expect(await at(`0/${path}`.replace(/\/$/, ""))).toMatchObject({ ...SPATIAL, ...PROJ });
    expect(await at(`1/${path}`.replace(/\/$/, ""))).toMatchObject({
      ...{ ...SPATIAL, ...PROJ, "spatial:shape": [4, 6], "proj:shape": [4, 6] },
      "spatial:transform": [20, 0, 300000, 0, -20, 5000000],
      "proj:transform": [20, 0, 300000, 0, -20, 5000000, 0, 0, 1],
    });
  });

  test("follow an append along y, and a resize", async () => {
    const url = await place({ ...SPATIAL, ...PROJ });
    const { y: _, ...withoutY } = scene();
    const grown = (rows: number, south: number) => ({
      ...{ "spatial:transform": SPATIAL["spatial:transform"], "spatial:shape": [rows, 12] },
      ...{ "spatial:bbox": [300000, south, 300120, 5000000], "proj:shape": [rows, 12] },
    });
    await append(await source(withoutY), await withoutCoordinate(url), { dim: "y" });
    expect(await attributesAt(url, path)).toMatchObject(grown(16, 4999840));
    await resizeArray(`${url}/b02`, [10, 12]);
    expect(await attributesAt(url, path)).toMatchObject(grown(10, 4999900));
  });
});

describe("other places of a raster", () => {
  test("are scaled, or left out where they cannot be, with a warning", async () => {
    const own = {
      ...{ transform: [10, 0, 300000, 0, -10, 5000000], res: [10, 10], crs: "EPSG:32632" },
      "geo:proj": { spatial_dims: ["y", "x"], transform: [10, 0, 0, 0, -10, 80], bbox: [0, 0, 120, 80] },
      geo: { proj: { spatial_dimensions: ["y", "x"], transform: [10, 0, 0, 0, -10, 80] } },
      ...{ "proj:centroid": { lat: 1, lon: 2 }, "proj:geometry": {}, "proj:code": "EPSG:32632" },
    };
    const slice = { y: [4, 8], x: [0, 12, 2] } as const;
    const { attributes, warnings } = await sliced(await source(scene({}, own)), { slice }, "b02");
    const transform = [20, 0, -5, 0, -10, 40];
    expect(attributes).toEqual({
      ...{ grid_mapping: "spatial_ref", crs: "EPSG:32632", "proj:code": "EPSG:32632" },
      ...{ transform: [20, 0, 299995, 0, -10, 4999960], res: [20, 10] },
      "geo:proj": { spatial_dims: ["y", "x"], transform, bbox: [-5, 0, 115, 40] },
      geo: { proj: { spatial_dimensions: ["y", "x"], transform } },
    });
    const words = "`proj:geometry`, `proj:centroid` dropped: it cannot be computed for the new grid";
    expect(warnings).toEqual([`b02: ${words}`]);
  });

  test("of the nodes of a grid count from the first node, and a bbox without a transform is left out", async () => {
    const grid = { "spatial:dimensions": ["y", "x"], "spatial:transform": [1, 0, 0, 0, -1, 4] };
    const nodes = { "spatial:registration": "node", "spatial:bbox": [0, 0, 6, 4] };
    const shape = [5, 7];
    const url = await source({
      node: { shape, dims: ["time", "x"], attributes: grid },
      dem: { shape, dims: ["y", "x"], attributes: { ...grid, ...nodes } },
      boxed: { shape, dims: ["y", "x"], attributes: { "spatial:bbox": [0, 0, 7, 5] } },
    });
    const slice = { y: [0, 5, 2], x: [2, 7, 2] } as const;
    const { to, attributes, warnings } = await sliced(url, { slice }, "dem");
    const cut = { "spatial:transform": [2, 0, 2, 0, -2, 4], "spatial:bbox": [2, 0, 6, 4] };
    expect(attributes).toMatchObject(cut);
    expect(await attributesAt(to, "node")).toMatchObject(grid);
    expect(warnings).toEqual(["boxed: `spatial:bbox` dropped: it cannot be computed for the new grid"]);
  });

  test("in a STAC item are left out, and the rest of it stays", async () => {
    const stac_discovery = {
      ...{ type: "Feature", id: "S2A", bbox: [1, 2, 3, 4], geometry: { type: "Polygon" } },
      properties: { "proj:epsg": 32632, "proj:shape": [8, 12], start_datetime: "2020-01-01T00:00:00Z" },
      assets: { b02: { "proj:transform": [10, 0, 0, 0, -10, 0], title: "blue" } },
    };
    const url = await source(scene(), { stac_discovery });
    const { attributes, warnings } = await sliced(url, { slice: { y: [4, 8] } });
    expect(attributes.stac_discovery).toEqual({
      ...{ type: "Feature", id: "S2A", assets: { b02: { title: "blue" } } },
      properties: { "proj:epsg": 32632, start_datetime: "2020-01-01T00:00:00Z" },
    });
    expect(warnings).toEqual([expect.stringContaining("`proj:shape`")]);
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
    const zarr_conventions = [{ name: "multiscales" }];
    const url = await source(members, { multiscales: { layout }, zarr_conventions });
    const { attributes, warnings } = await sliced(url, { slice: { y: [2, 6] }, include: "r10m" });
    expect(attributes.multiscales).toEqual({
      layout: [{ asset: "r10m", "spatial:shape": [4, 12], "spatial:transform": [10, 0, 0, 0, -10, -20] }],
    });
    expect(warnings).toEqual([": `multiscales`: 1 of 2 levels dropped: they are not in the target"]);
    const to = target("small");
    await copy(url, to, { include: "r20m" });
    const small = { layout: [{ asset: "r20m", "spatial:shape": [4, 6] }] };
    expect((await attributesAt(to, "")).multiscales).toEqual(small);
    await copy(url, to, { exclude: "r*", ifExists: "replace" });
    expect(await attributesAt(to, "")).toEqual({ zarr_conventions: [] });
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
    const { attributes, warnings } = await sliced(url, { slice: { y: [2, 6] }, include: "r10m" });
    expect(attributes).toEqual({});
    const lost = "`tile_matrix_set`, `tile_matrix_limits` dropped: the data is sliced or resampled";
    expect(warnings).toEqual([`: \`multiscales\`: ${lost}`]);
  });
});

describe("attributes of CF", () => {
  const CF = { units: "K", actual_range: [0, 95], valid_range: [0, 100], STATISTICS_MEAN: 4 };

  test("say how blocks became cells, and no longer the range of others", async () => {
    const cell_methods = "time: mean";
    const url = await source({
      ...scene({}, { ...CF, cell_methods }),
      flags: { shape: [8, 12], dims: ["y", "x"], attributes: { units: "1", flag_values: [0, 1] } },
      plain: { shape: [8, 12], dims: ["y", "x"] },
      y: { shape: [8], dims: ["y"], attributes: { units: "m" } },
    });
    const { at, warnings } = await levelsOf(url, { levels: 3 });
    expect(await at("0/b02")).toMatchObject({ ...CF, cell_methods });
    expect(await at("2/b02")).toEqual({
      ...{ units: "K", valid_range: [0, 100], grid_mapping: "spatial_ref" },
      cell_methods: "time: mean y: x: mean",
    });
    expect(await at("1/flags")).toMatchObject({ cell_methods: "y: x: mode" });
    expect(await at("1/plain")).toEqual({});
    expect(await at("1/y")).toEqual({ units: "m" });
    const words = "dropped: the target has other items than those it was computed from";
    expect(warnings).toEqual([`b02: \`actual_range\`, \`STATISTICS_MEAN\` ${words}`]);
    const most = await levelsOf(url, { method: "max", factor: { x: 2, y: 1 } });
    expect(await most.at("1/b02")).toMatchObject({ cell_methods: "time: mean x: maximum" });
    const nearest = await levelsOf(url, { method: "nearest" });
    expect(await nearest.at("1/b02")).toMatchObject({ cell_methods });
  });

  test("stay where all items do, and lose the range of a part", async () => {
    const url = await source(scene({}, CF));
    const { attributes: ofPart } = await sliced(url, { slice: { y: [0, 4] } }, "b02");
    expect(ofPart).toEqual({ grid_mapping: "spatial_ref", units: "K", valid_range: [0, 100] });
    const { attributes } = await sliced(url, { slice: { y: [0, 8] }, chunks: { y: 4 } }, "b02");
    expect(attributes).toMatchObject(CF);
  });

  test("of integers of the other sign are what they mean where a level has doubles", async () => {
    const attributes = { _Unsigned: "true", valid_range: [0, -1], scale_factor: 2 };
    const b = { shape: [4, 4], dims: ["y", "x"] };
    const url = await source({ b, x: { shape: [4], dims: ["x"], attributes } });
    await writeRegion(await openArray(`${url}/x`), { x: [0, 4] }, Int32Array.of(-4, -2, 0, 2));
    const { at } = await levelsOf(url);
    expect(await at("0/x")).toEqual(attributes);
    expect(await at("1/x")).toEqual({ valid_range: [0, 2 ** 32 - 1], scale_factor: 2 });
    expect([...(await slice("memory:pyramid/1/x").read()).data]).toEqual([2 ** 32 - 3, 1]);
  });

  test("of indices and counts along a dimension that is cut are left out", async () => {
    const instance = { instance_dimension: "station" };
    const url = await source({
      landpoint: { shape: [5], dims: ["landpoint"], attributes: { compress: "lat lon" } },
      lat: { shape: [8], dims: ["lat"] },
      row_size: { shape: [3], dims: ["station"], attributes: { sample_dimension: "obs" } },
      station_index: { shape: [9], dims: ["obs"], attributes: instance },
    });
    const { to, warnings } = await sliced(url, { slice: { lat: [0, 4], obs: [0, 4] } });
    for (const path of ["landpoint", "row_size"]) expect(await attributesAt(to, path)).toEqual({});
    expect(await attributesAt(to, "station_index")).toEqual(instance);
    expect(warnings).toHaveLength(2);
    const other = await sliced(url, { slice: { obs: [0, 4] } });
    expect(await attributesAt(other.to, "landpoint")).toEqual({ compress: "lat lon" });
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
  const { attributes, warnings } = await sliced(await source(cube, ACDD), { slice });
  const left = Object.entries(ACDD).filter(([name]) => !lost.some((one) => one === name));
  expect(attributes).toEqual(Object.fromEntries(left));
  expect(warnings).toHaveLength(1);
  for (const name of lost) expect(warnings[0]).toContain(`\`${name}\``);
});

test("ACDD: a level has no resolution of another, and an append no end", async () => {
  const { at } = await levelsOf(await source(cube, ACDD));
  const { geospatial_lat_resolution: _, ...rest } = ACDD;
  expect([await at("0"), await at("1")]).toEqual([ACDD, rest]);
  const days = (time: number): Members => ({ t: { shape: [time, 4, 8], dims: ["time", "lat", "lon"] } });
  const grown = await source(days(6), ACDD);
  const { warnings, onEvent } = heard();
  await append(await source(days(2)), grown, { dim: "time", onEvent });
  const { time_coverage_end: __, ...started } = ACDD;
  expect(await attributesAt(grown, "")).toEqual(started);
  expect(warnings).toEqual([expect.stringContaining("time_coverage_end")]);
});

test("levels of one array say where they lie", async () => {
  const own = { ...PROJ, actual_range: [0, 95] };
  const { at, warnings } = await levelsOf(`${await source(scene({}, own))}/b02`);
  expect(await at("0")).toMatchObject(own);
  expect(await at("1")).toEqual({
    ...{ ...PROJ, "proj:shape": [4, 6], grid_mapping: "spatial_ref", cell_methods: "y: x: mean" },
    "proj:transform": [20, 0, 300000, 0, -20, 5000000, 0, 0, 1],
  });
  expect(warnings).toHaveLength(1);
});

test("attributes that repeat the chunk shape follow where they did", async () => {
  const own = { _ChunkSizes: [2, 2], preferred_chunks: { y: 2, x: 2 }, chunks: [7, 7] };
  const url = await source({
    a: { shape: [8, 12], dims: ["y", "x"], attributes: own },
    b: { shape: [9], dims: ["z"], attributes: { _ChunkSizes: 2 } },
  });
  const to = target("chunks");
  await rechunk(url, to, { chunks: ["a:4,3", "b:5"] });
  const after = { _ChunkSizes: [4, 3], preferred_chunks: { y: 4, x: 3 }, chunks: [7, 7] };
  expect(await attributesAt(to, "a")).toEqual(after);
  expect(await attributesAt(to, "b")).toEqual({ _ChunkSizes: 5 });
  const { attributes } = await sliced(url, { slice: { y: [0, 1] } }, "a");
  expect(attributes).toMatchObject({ _ChunkSizes: [1, 2] });
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
    const members = {
      t: { shape: [time, 8], dims: ["time", "y"], attributes: array("/time", "/y") },
      "g/w": { shape: [8], dims: ["y"], attributes: array("/y") },
    };
    const url = await source(members, {
      ...groupOf({ time: { size: time, unlimited: 1 }, y: 8 }, ["t"], ["g"]),
      [isOld ? "_NCZARR_SUPERBLOCK" : "_nczarr_superblock"]: { version: "2.0.0" },
    });
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
    const slice = { time: [0, 3], y: [1, 7, 2] } as const;
    const { to } = await sliced(await nczarr(), { slice });
    expect(await own(to, "")).toEqual(sizes({ time: { size: 3, unlimited: 1 }, y: 3 }, ["t"], ["g"]));
    expect(await own(to, "t")).toMatchObject({ storage: "chunked" });
    await copy(await nczarr(), to, { exclude: "g", ifExists: "replace" });
    expect(await own(to, "")).toEqual(sizes({ time: { size: 4, unlimited: 1 }, y: 8 }, ["t"], []));
  });

  test("has the size of an append and of a resize; an array of another length gets a dimension", async () => {
    const url = await nczarr();
    await append(await nczarr(2), url, { dim: "time" });
    const dims = { time: { size: 6, unlimited: 1 }, y: 8 };
    expect(await own(url, "")).toEqual(sizes(dims, ["t"], ["g"]));
    await renameNode(`${url}/t`, "u");
    expect(await own(url, "")).toEqual(sizes(dims, ["u"], ["g"]));
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
  const wells = ["A/1", "A/2", "B/1"].map((path, i) => ({ path, rowIndex: i >> 1, columnIndex: i % 2 }));
  const plate = { rows: [{ name: "A" }, { name: "B" }], columns: [{ name: "1" }, { name: "2" }], wells };
  const image = { shape: [2], dims: ["x"] };
  const datasets = ["0", "1"].map((path) => ({ path }));

  test("are not listed: wells of a plate", async () => {
    const members = Object.fromEntries(wells.map(({ path }) => [`${path}/0/0`, image]));
    const url = await source(members, ome({ plate }), zarrFormat);
    const to = target("plate");
    const { warnings, onEvent } = heard();
    await copy(url, to, { include: "A", onEvent });
    const ofRow = { plate: { ...plate, wells: wells.slice(0, 2) } };
    expect(stated(await attributesAt(to, ""))).toMatchObject(ofRow);
    expect(warnings).toContain(": `plate.wells`: B/1 dropped: it is not in the target");
    await deleteNode(`${to}/A/1`);
    expect(stated(await attributesAt(to, ""))).toMatchObject({ plate: { wells: wells.slice(1, 2) } });
  });

  test("are not listed: levels of an image", async () => {
    const url = await source({ 0: image, 1: image }, ome({ multiscales: [{ datasets }] }), zarrFormat);
    const to = target("levels");
    await copy(url, to, { exclude: "1" });
    const one = { multiscales: [{ datasets: datasets.slice(0, 1) }] };
    expect(stated(await attributesAt(to, ""))).toMatchObject(one);
  });
});
