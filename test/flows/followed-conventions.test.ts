// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  append,
  convert,
  copy,
  deleteNode,
  type FlowEvent,
  open,
  pyramid,
  rechunk,
  resizeArray,
  sliceTo,
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
  const place = (own: Attributes) =>
    where === "array" ? source(scene({}, own)) : source(scene(), own);
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
