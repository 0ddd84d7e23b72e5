// @module-tag slow
import { describe, expect, it } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { copy, type FlowEvent, open, openGroup, sliceTo } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { itemsOf } from "../support/consume.ts";
import { type MadeMember, makeGroup, shapesIn } from "../support/made-group.ts";

const ARRAYS: Record<string, MadeMember> = {
  t2m: {
    shape: [4, 3, 5],
    dims: ["time", "lat", "lon"],
    attributes: {
      coordinates: "height  lost",
      grid_mapping: "crs: lat lon",
      ancillary_variables: "error",
      cell_measures: "area: cells volume:sizes",
    },
  },
  u10: { shape: [4, 3, 5], dims: ["time", "lat", "lon"] },
  time: { shape: [4], dims: ["time"], attributes: { bounds: "time_bnds" } },
  time_bnds: { shape: [4, 2], dims: ["time", "nv"] },
  nv: { shape: [2], dims: ["nv"] },
  lat: { shape: [3], dims: ["lat"] },
  lon: { shape: [5], dims: ["lon"] },
  height: { shape: [], dims: [] },
  crs: { shape: [], dims: [] },
  error: { shape: [4, 3], dims: ["time", "lat"], attributes: { ancillary_variables: "t2m error" } },
  cells: { shape: [3, 5], dims: ["lat", "lon"] },
  sizes: { shape: [5], dims: ["lon"] },
  station: { shape: [4], dims: ["time"] },
  places: { shape: [6], dims: ["place"] },
  "sub/v": {
    shape: [4, 2],
    dims: ["time", "level"],
    attributes: { coordinates: "../t2m /sub/deep/w name/../../.." },
  },
  "sub/level": { shape: [2], dims: ["level"] },
  "sub/lat": { shape: [9], dims: ["lat"] },
  "sub/deep/w": { shape: [3], dims: ["lat"] },
};
const T2M = ["cells", "crs", "error", "height", "lat", "lon", "sizes", "t2m", "time", "time_bnds"];

function source(zarrFormat: "v2" | "v3", consolidated = false): Promise<MemoryStore> {
  const attributes = { coordinates: "station places" };
  return makeGroup(new MemoryStore(), ARRAYS, { zarrFormat, attributes, consolidated });
}

describe.each(["v2", "v3"] as const)("what belongs to an array in %s", (zarrFormat) => {
  it.each<[string, string | string[], string[]]>([
    ["coordinates, bounds, mappings and all that is named, from one to the next", "t2m", [...T2M, "station"]],
    [
      "coordinates of the dimensions, and those of the group",
      "u10",
      ["lat", "lon", "station", "time", "time_bnds", "u10"],
    ],
    ["what is above a group, by name or path", "sub/v", [...T2M, "sub/deep/w", "sub/level", "sub/v"]],
    ["nothing of another length", "sub/deep", ["lat", "sub/deep/w"]],
    ["the coordinates of a bound that is asked for", "time_bnds", ["nv", "station", "time", "time_bnds"]],
  ])("comes along with a copy: %s", async (_, include, expected) => {
    const [from, to] = [await source(zarrFormat), new MemoryStore()];
    const named = await copy(from, to, { include, verify: true }).then(() => shapesIn(to));
    expect(Object.keys(named).sort()).toEqual([...expected].sort());
    for (const path of expected) expect(await itemsOf(to, path), path).toEqual(await itemsOf(from, path));
  });

  it("stays behind where that is asked for", async () => {
    const from = await source(zarrFormat);
    const alone = new MemoryStore();
    await copy(from, alone, { include: "t2m", alone: true });
    expect(Object.keys(await shapesIn(alone))).toEqual(["t2m"]);
    const without = new MemoryStore();
    await copy(from, without, { include: "u10", exclude: ["station", "*_bnds"] });
    expect(Object.keys(await shapesIn(without)).sort()).toEqual(["lat", "lon", "time", "u10"]);
  });

  it("is in the plan", async () => {
    const { plan, close } = await planFlow(await source(zarrFormat), new MemoryStore(), { include: "u10" });
    await close();
    expect(plan.publication.filter).toEqual({
      include: "u10",
      companions: ["lat", "lon", "station", "time", "time_bnds"],
    });
  });

  it("is sliced with a group of which a part is taken", async () => {
    const [from, to] = [await source(zarrFormat), new MemoryStore()];
    await sliceTo(from, to, { slice: { time: [1, 3], lat: 2 }, include: "u10" });
    expect(await shapesIn(to)).toEqual({
      lat: [1],
      lon: [5],
      station: [2],
      time: [2],
      time_bnds: [2, 2],
      u10: [2, 1, 5],
    });
  });

  it.each([true, false])(
    "is sliced with an array, which becomes a member of a group (consolidated: %s)",
    async (consolidated) => {
      const from = await source(zarrFormat, consolidated);
      const to = new MemoryStore();
      await sliceTo({ store: from, path: "t2m" }, to, { slice: "1:3,2,::2", chunks: "1,1,3", verify: true });
      expect(await shapesIn(to)).toEqual({
        cells: [1, 3],
        crs: [],
        error: [2, 1],
        height: [],
        lat: [1],
        lon: [3],
        sizes: [3],
        station: [2],
        t2m: [2, 1, 3],
        time: [2],
        time_bnds: [2, 2],
      });
      expect(await open({ store: to, path: "t2m" })).toMatchObject({ chunkShape: [1, 1, 3] });
      expect(await itemsOf(to, "cells")).toEqual(
        await itemsOf(from, "cells", { lat: [2, 3], lon: [0, 5, 2] }),
      );
      expect(await itemsOf(to, "t2m")).toEqual(
        await itemsOf(from, "t2m", { time: [1, 3], lat: [2, 3], lon: [0, 5, 2] }),
      );
      expect((await openGroup(to)).attributes).toEqual({ coordinates: "station places" });
      expect((await to.get(".zmetadata")) !== undefined).toBe(consolidated && zarrFormat === "v2");
    },
  );

  it("lies in the nearest group that holds all of it", async () => {
    const [from, to] = [await source(zarrFormat), new MemoryStore()];
    await sliceTo({ store: from, path: "sub/level" }, to, { slice: { level: 0 }, to: "v3" });
    expect(await open(to)).toMatchObject({ kind: "array", shape: [1] });
    const withOthers = new MemoryStore();
    await sliceTo({ store: from, path: "sub/v" }, withOthers, {
      slice: { time: [0, 2] },
      exclude: "t2m",
      to: "v3",
    });
    expect(await shapesIn(withOthers)).toEqual({
      "sub/deep/w": [3],
      "sub/level": [2],
      "sub/v": [2, 2],
      time: [2],
      time_bnds: [2, 2],
    });
  });

  it("stays behind a slice of an array alone, which remains an array", async () => {
    const [from, to] = [await source(zarrFormat), new MemoryStore()];
    await sliceTo({ store: from, path: "t2m" }, to, { slice: { time: 0 }, alone: true });
    expect(await open(to)).toMatchObject({ kind: "array", shape: [1, 3, 5] });
  });

  it("may lie beside the target of a slice, but not under it", async () => {
    const store = await source(zarrFormat);
    await sliceTo({ store, path: "u10" }, { store, path: "part" }, { slice: { time: 0 } });
    expect(await open({ store, path: "part/u10" })).toMatchObject({ shape: [1, 3, 5] });
    for (const path of ["time", ""]) {
      const over = sliceTo(
        { store, path: "u10" },
        { store, path },
        { slice: { time: 0 }, ifExists: "replace" },
      );
      await expect(over).rejects.toMatchObject({ code: "target-inside-source" });
    }
    expect(await itemsOf(store, "time")).toHaveLength(4);
  });

  it("is named where it lies above a group that is sliced", async () => {
    const [from, to] = [await source(zarrFormat), new MemoryStore()];
    const warnings: string[] = [];
    const onEvent = (event: FlowEvent) => {
      if (event.type === "warning") warnings.push(event.message);
    };
    await sliceTo({ store: from, path: "sub" }, to, { slice: { time: [0, 2] }, onEvent });
    expect(warnings).toEqual(["coordinates in a group above this one are not in the slice: `time`"]);
    expect(Object.keys(await shapesIn(to)).sort()).toEqual(["deep/w", "lat", "level", "v"]);
  });

  it("gives the labels of a slice that leaves it out", async () => {
    const [from, to] = [await source(zarrFormat), new MemoryStore()];
    // 4, 5, 6, 7
    await sliceTo(from, to, { sel: { time: [5, 6] }, include: ["u10"], exclude: ["time", "station"] });
    expect(await shapesIn(to)).toEqual({ lat: [3], lon: [5], u10: [2, 3, 5] });
  });
});
