// @module-tag slow
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { copy, type FlowEvent, open, openArray, sliceTo } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { BUCKET } from "../../stores/s3-server.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../../stores/value-server.ts";
import { valuesIn } from "../../support/consume.ts";
import { givenKeys } from "../../support/given.ts";
import { type MadeMember, makeGroup, shapesIn } from "../../support/made-group.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";

const T2M: MadeMember = { shape: [4, 3], dims: ["time", "lat"] };
const LAT: MadeMember = { shape: [3], dims: ["lat"] };
const FIRST = { slice: { time: 0 } };

type Options = Partial<Parameters<typeof sliceTo>[2]>;

/** A slice of one array of a group in memory: what is written, and what is warned of. */
async function sliced(
  from: MemoryStore | string,
  { path = "t2m", ...options }: Options & { readonly path?: string } = {},
) {
  const to = new MemoryStore();
  const warnings: { path?: string; message: string }[] = [];
  const onEvent = (event: FlowEvent) => {
    if (event.type === "warning") warnings.push(event as (typeof warnings)[number]);
  };
  const source = typeof from === "string" ? `${from}/${path}` : { store: from, path };
  await sliceTo(source, to, { ...FIRST, ...options, onEvent });
  const isGroup = (await open(to)).kind === "group";
  return { shapes: isGroup ? await shapesIn(to) : undefined, warnings };
}

const folders = temporaryFolder();

const HOSTILE = [
  ...".. . ... ../.. /.. / // a\\b a\\..\\..\\x \0 %2e%2e C: con ~ é".split(" "),
  ..."zarr.json .zarray .zattrs .zgroup .zmetadata c 0 t2m t2m/0 ../t2m lat/".split(" "),
  ...["__proto__", "constructor", "toString", "x".repeat(300), "x".repeat(5000), "a/".repeat(600)],
];

describe.each(["v2", "v3"] as const)("what an array of %s names", (zarrFormat) => {
  const make = (members: Record<string, MadeMember>) =>
    makeGroup(new MemoryStore(), { t2m: T2M, lat: LAT, ...members }, { zarrFormat });

  it("may be no name of a node, or lead out of the hierarchy: nothing comes along for that", async () => {
    const attributes = {
      coordinates: HOSTILE.join(" "),
      bounds: 7,
      grid_mapping: { crs: 1 },
      ancillary_variables: null,
      cell_measures: "area: ../../etc volume:",
      formula_terms: ":: a:",
    };
    const names = ["time", "..", "a/b", ""].slice(0, zarrFormat === "v3" ? 4 : 3);
    const t2m = { shape: names.map((_, i) => 2 + i), dims: names, attributes };
    for (const to of [new MemoryStore(), folders.next("x.zarr")]) {
      const members = { t2m, time: { shape: [2], dims: ["time"] }, lat: LAT };
      const from = await makeGroup(to, members, { zarrFormat });
      const whole = new MemoryStore();
      await copy(from, whole, { include: "t2m" });
      expect(Object.keys(await shapesIn(whole)).sort()).toEqual(["lat", "t2m", "time"]);
      const { shapes } = await sliced(from);
      expect(shapes).toEqual({ lat: [3], t2m: [1, ...t2m.shape.slice(1)], time: [1] });
    }
  });

  it("is left out with a warning where it cannot be read", async () => {
    const from = await make({});
    await from.set(zarrFormat === "v2" ? "lat/.zarray" : "lat/zarr.json", new TextEncoder().encode("{ no"));
    const { shapes, warnings } = await sliced(from);
    expect(shapes).toBeUndefined();
    expect(warnings).toEqual([expect.objectContaining({ path: "lat" })]);
    expect(warnings[0]?.message).toMatch(/^this cannot be read and is skipped.*: .*not valid JSON/);
    expect((await sliced(from, { exclude: "lat" })).warnings).toEqual([]);
    expect((await sliced(from, { companions: false })).warnings).toEqual([]);
  });

  it("is not followed out of the folder by a symbolic link", async () => {
    const folder = folders.next();
    const from = join(folder, "in/x.zarr");
    await mkdir(join(folder, "in"), { recursive: true });
    await makeGroup(from, { t2m: T2M, time: { shape: [4], dims: ["time"] } }, { zarrFormat });
    await makeGroup(join(folder, "out.zarr"), { lat: LAT }, { zarrFormat });
    await symlink(join(folder, "out.zarr/lat"), join(from, "lat"));
    const { shapes, warnings } = await sliced(from);
    expect(shapes).toEqual({ t2m: [1, 3], time: [1] });
    expect(warnings).toEqual([expect.objectContaining({ path: "lat" })]);
  });

  it("is no array in the folder of an array", async () => {
    const from = await make({ t2m: { ...T2M, attributes: { coordinates: "lat/inner t2m/inner" } } });
    const inner = await makeGroup(new MemoryStore(), { inner: { shape: [] } }, { zarrFormat });
    await inner.delete(zarrFormat === "v2" ? ".zgroup" : "zarr.json");
    for (const above of ["lat", "t2m"])
      await givenKeys(Object.fromEntries(await valuesIn(inner, above)), from);
    expect((await sliced(from)).shapes).toEqual({ t2m: [1, 3], lat: [3] });
  });

  it("may be found by the attributes of geometries, from one to the next, in a circle", async () => {
    const line = (attributes: object) => ({ shape: [5], dims: ["node"], attributes: { ...attributes } });
    const members = {
      t2m: { ...T2M, attributes: { geometry: "lines" } },
      lines: { shape: [], attributes: { node_coordinates: "x", node_count: "count", grid_mapping: "lines" } },
      x: line({ ancillary_variables: "t2m x", nodes: "y" }),
      y: line({ bounds: "x" }),
      count: { shape: [3], dims: ["lat"] },
      other: LAT,
    };
    const { shapes } = await sliced(await make(members), { slice: { lat: 1 } });
    expect(shapes).toEqual({ t2m: [4, 1], lat: [1], lines: [], x: [5], y: [5], count: [1] });
  });

  it("is looked for a limited number of times", async () => {
    const names = (from: number) => Array.from({ length: 999 }, (_, i) => `n${from}.${i}`).join(" ");
    const others = Array.from({ length: 11 }, (_, i) => `o${i}`);
    const named = (i: number): MadeMember => ({ shape: [], attributes: { coordinates: names(i) } });
    const members = Object.fromEntries(others.map((name, i) => [name, named(i)]));
    const from = await make({ ...members, t2m: { ...T2M, attributes: { coordinates: others.join(" ") } } });
    await expect(sliced(from)).rejects.toMatchObject({ code: "resource-limit", details: { path: "t2m" } });
    expect((await sliced(from, { companions: false })).shapes).toBeUndefined();
  });

  const twice = { shape: [3, 3], dims: ["lat", "lat"] };
  it.each<[string, Record<string, MadeMember>, Options, string]>([
    [
      "has another length",
      { lat: { shape: [9], dims: ["lat"] } },
      FIRST,
      "dimension lat has 3 items in t2m, and 9 in lat",
    ],
    ["has no name", { lat: { shape: [3] } }, FIRST, "some dimensions of lat have no names"],
    [
      "has no name in the array",
      { t2m: { shape: [4, 3] } },
      { slice: "0" },
      "some dimensions of t2m have no names",
    ],
    ["has the name of two", { t2m: twice }, { slice: "0:2,1:3" }, "two dimensions of t2m are named lat"],
  ])("is taken whole, with a warning, where a dimension %s", async (_, members, options, reason) => {
    const { t2m = T2M, lat = LAT } = members;
    const from = await make({ lat, t2m: { ...t2m, attributes: { ancillary_variables: "lat" } } });
    const { shapes, warnings } = await sliced(from, options);
    expect(shapes).toMatchObject({ lat: lat.shape });
    const message = `this is copied whole, not sliced: ${reason}`;
    expect(warnings).toEqual([expect.objectContaining({ path: "lat", message })]);
    const strict = sliced(from, { ...options, strict: true });
    await expect(strict).rejects.toMatchObject({ code: "invalid-selection", details: { path: "lat" } });
    expect((await sliced(from, { ...options, strict: true, exclude: "lat" })).shapes).toBeUndefined();
  });

  it("is sliced by the labels of the array's coordinates", async () => {
    const from = await make({ time: { shape: [4], dims: ["time"] } }); // 4, 5, 6, 7
    expect((await sliced(from, { slice: "time=5..6" })).shapes).toEqual({ lat: [3], t2m: [2, 3], time: [2] });
  });

  it("cannot be chosen with include, which is for groups", async () => {
    const from = await make({});
    await expect(sliced(from, { include: "lat" })).rejects.toMatchObject({ code: "invalid-option" });
    const nothing = sliceTo(from, new MemoryStore(), { ...FIRST, include: "none" });
    const details = { hint: "Its arrays and groups are lat, t2m." };
    await expect(nothing).rejects.toMatchObject({ code: "invalid-option", details });
  });
});

describe("an array at a URL of a server that lists nothing", () => {
  const servers: ValueServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function served(consolidated: boolean): Promise<ValueServer> {
    const t2m = { ...T2M, attributes: { grid_mapping: "crs", coordinates: "lost" } };
    const members = { t2m, lat: LAT, crs: { shape: [] }, other: LAT };
    const store = await makeGroup(new MemoryStore(), members, { zarrFormat: "v2", consolidated });
    const server = await serveValues(await valuesIn(store, "a/x.zarr"));
    servers.push(server);
    return server;
  }

  it.each([true, false])("takes what belongs to it alone (consolidated: %s)", async (consolidated) => {
    const { url, requests } = await served(consolidated);
    expect((await sliced(`${url}/a/x.zarr`)).shapes).toEqual({ crs: [], lat: [3], t2m: [1, 3] });
    expect(requests.filter((request) => request.url.includes("/other"))).toEqual([]);
  });

  it("may be refused what is missing, and what lies above", async () => {
    const { url, requests, faults } = await served(false);
    const refuses = (at: string) => /\/lost\/|\/data\/\.z|\/a\/\.z/.test(at);
    for (let i = 0; i < 500; i++)
      faults.push((response, request) => refuses(request.url) && Boolean(response.writeHead(403).end()));
    const { shapes, warnings } = await sliced(`${url}/a/x.zarr`);
    expect(shapes).toEqual({ crs: [], lat: [3], t2m: [1, 3] });
    expect(warnings).toEqual([expect.objectContaining({ path: "lost" })]);
    expect(requests.length).toBeLessThan(60);
  });
});

it("comes along from a bucket, and to one", async () => {
  const server = await serveReachableBucket({ pageSize: 4 });
  onTestFinished(() => server.close());
  const members = { t2m: { ...T2M, attributes: { coordinates: "lost" } }, lat: LAT, other: LAT };
  const source = await makeGroup(`s3://${BUCKET}/a/x.zarr`, members, { zarrFormat: "v3" });
  await sliceTo(`${source}/t2m`, `s3://${BUCKET}/a/part.zarr`, FIRST);
  expect(await shapesIn(`s3://${BUCKET}/a/part.zarr`)).toEqual({ lat: [3], t2m: [1, 3] });
  const into = sliceTo(`${source}/t2m`, `${source}/lat/part`, FIRST);
  await expect(into).rejects.toMatchObject({ code: "target-inside-source" });
});

it("keeps to the rate that is asked for where the array is open already", async () => {
  const members = { t2m: { shape: [120, 3], dims: ["time", "lat"] }, lat: LAT };
  const store = await makeGroup(new MemoryStore(), members, { zarrFormat: "v3" });
  const array = await openArray({ store, path: "t2m" });
  const options = { slice: { lat: 0 }, chunks: { time: -1 } };
  await sliceTo(array, new MemoryStore(), options); // loads what is loaded on use
  const start = performance.now();
  await sliceTo(array, new MemoryStore(), { ...options, requestsPerSecond: 120 });
  expect(performance.now() - start).toBeGreaterThan((60 / 120) * 1000 - 20);
});
