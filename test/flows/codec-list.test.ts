import { describe, expect, it } from "vitest";
import type { FlowEvent } from "../../src/flows/events.ts";
import { append, type CodecOption, copy, openArray, rechunk, slice } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { runHere } from "../support/cli-here.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const folder = temporaryFolder();
const floats = (index: number) => Math.fround(Math.sin(index) * 1000);
const array = { shape: [8, 6], chunks: [2, 3], dimensionNames: ["y", "x"] };
const ofFloats = () => given({ ...array, dataType: "float32", values: floats });

async function warningsOf(run: (onEvent: (event: FlowEvent) => void) => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = [];
  await run((event) => {
    if (event.type === "warning") warnings.push(event.message);
  });
  return warnings;
}

const json = async (store: MemoryStore, key: string) =>
  JSON.parse(new TextDecoder().decode(await store.get(key)));

describe("a list of codecs", () => {
  it("is what a new array has, in v2 and v3, in shards, and in Fortran order", async () => {
    const codec = "delta:int32,shuffle,zlib:9,crc32";
    const new16 = { ...array, dataType: "int16", codec, values: (index: number) => 7 * index } as const;
    const digests = new Set<string>();
    for (const more of [
      { zarrFormat: "v2", order: "F" },
      { zarrFormat: "v3", order: "F" },
      { zarrFormat: "v3", shards: [4, 6] },
    ] as const) {
      const store = await given({ ...new16, ...more });
      digests.add(await digestOf(store));
    }
    expect(digests.size).toBe(1);
    const { filters, compressor } = await json(await given({ ...new16, zarrFormat: "v2" }), ".zarray");
    expect(filters).toEqual([
      { id: "delta", astype: "<i4", dtype: "<i2" },
      { id: "shuffle", elementsize: 4 },
      { id: "zlib", level: 9 },
      { id: "crc32" },
    ]);
    expect(compressor).toBeNull();
    const { codecs } = await json(await given({ ...new16, zarrFormat: "v3" }), "zarr.json");
    expect(codecs.map(({ name }: { name: string }) => name)).toEqual([
      "numcodecs.delta",
      "bytes",
      "numcodecs.shuffle",
      "numcodecs.zlib",
      "numcodecs.crc32",
    ]);
  });

  it.each(["v2", "v3"] as const)("rounds values only where it is asked for, and says so: %s", async (to) => {
    const target = new MemoryStore();
    const source = await ofFloats();
    const codec = "bitround:10,zstd:5";
    expect(await warningsOf((onEvent) => copy(source, target, { codec, to, onEvent }))).toEqual([
      "bitround may change values: they are not stored exactly",
    ]);
    const { data } = await slice(await openArray(target)).read();
    for (const [index, value] of [...data].entries()) {
      expect(Math.abs((value as number) - floats(index))).toBeLessThanOrEqual(
        Math.abs(floats(index)) * 2 ** -11,
      );
    }
    const again = new MemoryStore();
    // what is rounded already is only compressed in another way
    expect(await warningsOf((onEvent) => copy(target, again, { codec: "gzip", onEvent }))).toEqual([]);
    expect(await digestOf(again)).toBe(await digestOf(target));
  });

  it("is what other flows write, from a stored plan too", async () => {
    const source = await ofFloats();
    const codec = "transpose:1:0,bytes:big,shuffle,zstd:1,crc32c";
    const expected = await digestOf(source);
    const options = { chunks: { y: 4 }, shards: { y: 8, x: 6 }, codec } as const;
    const rechunked = new MemoryStore();
    await rechunk(source, rechunked, options);
    expect(await digestOf(rechunked)).toBe(expected);
    const here = folder.next("source.zarr");
    await copy(source, here);
    const stored = folder.next("stored.zarr");
    const file = "plan.json";
    const made = await runHere(folder.path, "plan", "copy", here, stored, "--codec", codec, "--output", file);
    expect(made).toMatchObject({ code: 0 });
    expect((await runHere(folder.path, "run", file, "--task-index", "0", "--task-count", "1")).code).toBe(0);
    expect((await runHere(folder.path, "finish", file)).code).toBe(0);
    expect(await digestOf(stored)).toBe(expected);
  });

  it("is kept where arrays are added", async () => {
    const target = await given({
      ...array,
      dataType: "float32",
      codec: "bitround:23,zlib:1",
      values: floats,
    });
    await append(await ofFloats(), target, { dim: "y" });
    const { shape, metadata } = await openArray(target);
    expect(shape).toEqual([16, 6]);
    expect(metadata.codecs.map(({ name }) => name)).toEqual(["bytes", "bitround", "zlib"]);
  });

  it("is for data: coordinates and what describes arrays keep their codecs where values are looked at", async () => {
    const group = await given({
      arrays: {
        t: { ...array, dataType: "float32", attributes: { grid_mapping: "crs" }, values: floats },
        y: { shape: [8], dimensionNames: ["y"], dataType: "int64" },
        crs: { shape: [1], dataType: "float64" },
      },
    });
    const codecsOf = async (codec: CodecOption) => {
      const target = new MemoryStore();
      await copy(group, target, { codec });
      const names = await Promise.all(
        ["t", "y", "crs"].map(async (path) =>
          (await json(target, `${path}/zarr.json`)).codecs.map((one: { name: string }) => one.name).join(" "),
        ),
      );
      return names;
    };
    expect(await codecsOf("bitround:4,gzip:1")).toEqual([
      "numcodecs.bitround bytes gzip",
      "bytes zstd",
      "bytes zstd",
    ]);
    expect(await codecsOf("shuffle,gzip:1")).toEqual([
      "bytes numcodecs.shuffle gzip",
      "bytes numcodecs.shuffle gzip",
      "bytes numcodecs.shuffle gzip",
    ]);
    await expect(
      copy({ store: group, path: "y" }, new MemoryStore(), { codec: "bitround:4" }),
    ).rejects.toMatchObject({
      code: "invalid-option",
      reason: "bitround encodes floats only",
    });
  });

  it("is refused for an array that it does not fit, before anything is written", async () => {
    const group = await given({
      arrays: { t: { ...array, dataType: "float32" }, mask: { ...array, dataType: "int16" } },
    });
    const target = new MemoryStore();
    await expect(copy(group, target, { codec: "bitround:4,zstd" })).rejects.toMatchObject({
      code: "invalid-option",
      details: { path: "mask", expected: "floats", found: "<i2" },
    });
    const v1 = copy(group, target, { codec: "delta,zlib", to: "v2", include: ["mask"] });
    await expect(v1).resolves.toBeDefined();
  });
});
