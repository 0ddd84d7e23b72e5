// @module-tag slow
import { describe, expect, it } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { copy, open, openGroup, sliceTo } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { itemsOf } from "../support/consume.ts";
import { heard } from "../support/heard.ts";
import { type MadeMember, makeGroup, shapesIn } from "../support/made-group.ts";

/** An array along dimensions `time lat`, and what its attributes name. */
const along = (dims: string, shape: number[], attributes: Record<string, unknown> = {}): MadeMember => ({
  ...{ shape, dims: dims.split(" ").filter(Boolean), attributes },
});
const ARRAYS: Record<string, MadeMember> = {
  t2m: along("time lat lon", [4, 3, 5], {
    coordinates: "height  lost",
    grid_mapping: "crs: lat lon",
    ancillary_variables: "error",
    cell_measures: "area: cells volume:sizes",
  }),
  u10: along("time lat lon", [4, 3, 5]),
  time: along("time", [4], { bounds: "time_bnds" }),
  time_bnds: along("time nv", [4, 2]),
  nv: along("nv", [2]),
  lat: along("lat", [3]),
  lon: along("lon", [5]),
  height: along("", []),
  crs: along("", []),
  error: along("time lat", [4, 3], { ancillary_variables: "t2m error" }),
  cells: along("lat lon", [3, 5]),
  sizes: along("lon", [5]),
  station: along("time", [4]),
  places: along("place", [6]),
  "sub/v": along("time level", [4, 2], { coordinates: "../t2m /sub/deep/w name/../../.." }),
  "sub/level": along("level", [2]),
  "sub/lat": along("lat", [9]),
  "sub/deep/w": along("lat", [3]),
};
const T2M = "cells crs error height lat lon sizes t2m time time_bnds";

describe.each(["v2", "v3"] as const)("what belongs to an array in %s", (zarrFormat) => {
  const source = (consolidated = false) =>
    makeGroup(new MemoryStore(), ARRAYS, {
      ...{ zarrFormat, attributes: { coordinates: "station places" }, consolidated },
    });
  const copied = async (options: Parameters<typeof copy>[2]) => {
    const [from, to] = [await source(), new MemoryStore()];
    await copy(from, to, options);
    return { from, to, paths: Object.keys(await shapesIn(to)).sort() };
  };
  const sliced = async (path: string, options: Parameters<typeof sliceTo>[2]) => {
    const [store, to] = [await source(), new MemoryStore()];
    await sliceTo({ store, path }, to, options);
    return to;
  };

  it.each([
    ["coordinates, bounds, mappings and all that is named, from one to the next", "t2m", `${T2M} station`],
    ["coordinates of the dimensions, and of the group", "u10", "lat lon station time time_bnds u10"],
    ["what is above a group, by name or path", "sub/v", `${T2M} sub/deep/w sub/level sub/v`],
    ["nothing of another length", "sub/deep", "lat sub/deep/w"],
    ["the coordinates of a bound that is asked for", "time_bnds", "nv station time time_bnds"],
  ])("comes along with a copy: %s", async (_, include, expected) => {
    const { from, to, paths } = await copied({ include, verify: true });
    expect(paths).toEqual(expected.split(" ").sort());
    for (const path of paths) expect(await itemsOf(to, path), path).toEqual(await itemsOf(from, path));
  });

  it("stays behind where that is asked for", async () => {
    expect((await copied({ include: "t2m", companions: false })).paths).toEqual(["t2m"]);
    const without = await copied({ include: "u10", exclude: ["station", "*_bnds"] });
    expect(without.paths).toEqual(["lat", "lon", "time", "u10"]);
    const alone = await sliced("t2m", { slice: { time: 0 }, companions: false });
    expect(await open(alone)).toMatchObject({ kind: "array", shape: [1, 3, 5] });
  });

  it("is in the plan", async () => {
    const { plan, close } = await planFlow(await source(), new MemoryStore(), { include: "u10" });
    await close();
    const companions = ["lat", "lon", "station", "time", "time_bnds"];
    expect(plan.publication.filter).toEqual({ include: "u10", companions });
  });

  it("is sliced with a group of which a part is taken", async () => {
    const to = await sliced("", { slice: { time: [1, 3], lat: 2 }, include: "u10" });
    const coordinates = { lat: [1], lon: [5], station: [2], time: [2], time_bnds: [2, 2] };
    expect(await shapesIn(to)).toEqual({ ...coordinates, u10: [2, 1, 5] });
  });

  it.each([true, false])(
    "is sliced with an array, which becomes a member of a group (consolidated: %s)",
    async (consolidated) => {
      const [from, to] = [await source(consolidated), new MemoryStore()];
      await sliceTo({ store: from, path: "t2m" }, to, { slice: "1:3,2,::2", chunks: "1,1,3", verify: true });
      expect(await shapesIn(to)).toEqual({
        ...{ cells: [1, 3], crs: [], error: [2, 1], height: [], lat: [1], lon: [3], sizes: [3] },
        ...{ station: [2], t2m: [2, 1, 3], time: [2], time_bnds: [2, 2] },
      });
      expect(await open({ store: to, path: "t2m" })).toMatchObject({ chunkShape: [1, 1, 3] });
      const part = { lat: [2, 3], lon: [0, 5, 2] } as const;
      expect(await itemsOf(to, "cells")).toEqual(await itemsOf(from, "cells", part));
      expect(await itemsOf(to, "t2m")).toEqual(await itemsOf(from, "t2m", { time: [1, 3], ...part }));
      expect((await openGroup(to)).attributes).toEqual({ coordinates: "station places" });
      expect((await to.get(".zmetadata")) !== undefined).toBe(consolidated && zarrFormat === "v2");
    },
  );

  it("lies in the nearest group that holds all of it", async () => {
    const alone = await sliced("sub/level", { slice: { level: 0 }, to: "v3" });
    expect(await open(alone)).toMatchObject({ kind: "array", shape: [1] });
    const withOthers = await sliced("sub/v", { slice: { time: [0, 2] }, exclude: "t2m", to: "v3" });
    const below = { "sub/deep/w": [3], "sub/level": [2], "sub/v": [2, 2] };
    expect(await shapesIn(withOthers)).toEqual({ ...below, time: [2], time_bnds: [2, 2] });
  });

  it("may lie beside the target of a slice, but not under it", async () => {
    const store = await source();
    const slice = { time: 0 };
    await sliceTo({ store, path: "u10" }, { store, path: "part" }, { slice });
    expect(await open({ store, path: "part/u10" })).toMatchObject({ shape: [1, 3, 5] });
    for (const path of ["time", ""]) {
      const over = sliceTo({ store, path: "u10" }, { store, path }, { slice, ifExists: "replace" });
      await expect(over).rejects.toMatchObject({ code: "target-inside-source" });
    }
    expect(await itemsOf(store, "time")).toHaveLength(4);
  });

  it("is named where it lies above a group that is sliced", async () => {
    const { messages, onEvent } = heard();
    const to = await sliced("sub", { slice: { time: [0, 2] }, onEvent });
    expect(messages).toEqual(["the slice does not include coordinates in a group above this one: `time`"]);
    expect(Object.keys(await shapesIn(to)).sort()).toEqual(["deep/w", "lat", "level", "v"]);
  });

  it("gives the labels of a slice that leaves it out", async () => {
    // 4, 5, 6, 7
    const options = { sel: { time: [5, 6] as const }, include: ["u10"], exclude: ["time", "station"] };
    expect(await shapesIn(await sliced("", options))).toEqual({ lat: [3], lon: [5], u10: [2, 3, 5] });
  });
});
