// @module-tag slow
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { append, type CodecOption, copy, digest, openArray, plan, rechunk, slice } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { runHere } from "../support/cli-here.ts";
import { digestOf, itemsOf, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { heard } from "../support/heard.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const folder = temporaryFolder();

describe("an error of a codec names the store", () => {
  let bucket: S3Server;
  let web: ValueServer;
  const served = new Map<string, Uint8Array>();
  beforeEach(async () => {
    bucket = await serveReachableBucket();
    web = await serveValues(served);
  });
  afterEach(async () => {
    await bucket.close();
    await web.close();
    nameMemoryStore("codec-errors", undefined);
    served.clear();
  });

  test.each([
    ["c/1/0", {}],
    ["c/0/0", { shards: [4, 4] }],
  ])("damaged at %s of %j", async (key, shards) => {
    const array = { shape: [4, 4], chunks: [2, 2], dataType: "int32", codec: "gzip:5", ...shards };
    const store = await given({ ...array, values: (i) => i + 1 });
    const bytes = (await store.get(key)) as Uint8Array;
    await store.set(key, bytes.fill(7, 12, "shards" in shards ? bytes.length - 80 : undefined));
    nameMemoryStore("codec-errors", store);
    for (const [each, value] of await valuesIn(store)) served.set(each, value);
    const [here, there] = [folder.next("data.zarr"), `s3://${BUCKET}/data.zarr`];
    for (const place of [here, there]) await copy("memory:codec-errors", place);
    const flows = {
      slice: (source: string) => slice(source).read(),
      digest: (source: string) => digest(source).next(),
      copy: (source: string) => copy(source, folder.next(), { codec: "zlib:1" }),
      rechunk: (source: string) => rechunk(source, folder.next(), { chunks: [4, 1], threads: 2 }),
    };
    for (const [source, name] of [
      [here, `directory ${here}`],
      ["memory:codec-errors", "memory"],
      [web.url, web.url],
      [there, there],
    ] as const) {
      for (const [flow, run] of Object.entries(flows)) {
        await expect(run(source), `${flow} ${source}`).rejects.toMatchObject({
          code: expect.stringMatching(/corrupt-chunk|codec-error/),
          details: { store: name, path: "", key: expect.any(String), coords: expect.any(Array) },
        });
      }
    }
  });
});

const floats = (index: number) => Math.fround(Math.sin(index) * 1000);
const array = { shape: [8, 6], chunks: [2, 3], dimensionNames: ["y", "x"] };
const ofFloats = (more = {}) => given({ ...array, dataType: "float32", values: floats, ...more });
const namesOf = (codecs: readonly { readonly name: string }[]) => codecs.map(({ name }) => name).join(" ");

test.each(["zstd:99", "gzip:11"] as const)(
  "a level that a codec lacks is a wrong option: %s",
  async (codec) => {
    await expect(plan(await ofFloats(), new MemoryStore(), { codec })).rejects.toMatchObject({
      code: "invalid-option",
      details: { setting: "level", found: codec.split(":")[1] },
    });
  },
);

describe("a list of codecs", () => {
  it("is what a new array has, in v2 and v3, in shards, and in Fortran order", async () => {
    const codec = "delta:int32,shuffle,zlib:9,crc32";
    const new16 = { ...array, dataType: "int16", codec, values: (index: number) => 7 * index } as const;
    const made = [];
    for (const more of [{ zarrFormat: "v2", order: "F" }, { order: "F" }, { shards: [4, 6] }] as const)
      made.push(await given({ ...new16, ...more }));
    expect(new Set(await Promise.all(made.map((store) => digestOf(store)))).size).toBe(1);
    const [v2 = new MemoryStore(), v3 = v2] = made;
    expect(await jsonAt(v2, ".zarray")).toMatchObject({
      filters: [
        { id: "delta", astype: "<i4", dtype: "<i2" },
        { id: "shuffle", elementsize: 4 },
        { id: "zlib", level: 9 },
        { id: "crc32" },
      ],
      compressor: null,
    });
    const stages = "transpose numcodecs.delta bytes numcodecs.shuffle numcodecs.zlib numcodecs.crc32";
    expect(namesOf((await jsonAt(v3, "zarr.json")).codecs)).toBe(stages);
  });

  it.each(["v2", "v3"] as const)("rounds values only where it is asked for, and says so: %s", async (to) => {
    const [target, again] = [new MemoryStore(), new MemoryStore()];
    const { messages, onEvent } = heard();
    await copy(await ofFloats(), target, { codec: "bitround:10,zstd:5", to, onEvent });
    for (const [index, value] of (await itemsOf(target, "")).entries()) {
      const error = Math.abs((value as number) - floats(index));
      expect(error).toBeLessThanOrEqual(Math.abs(floats(index)) * 2 ** -11);
    }
    // what is rounded already is only compressed in another way
    await copy(target, again, { codec: "gzip", onEvent });
    expect(messages).toEqual(["bitround may change values: they are not stored exactly"]);
    expect(await digestOf(again)).toBe(await digestOf(target));
  });

  it("is what other flows write, from a stored plan too", async () => {
    const source = await ofFloats();
    const codec = "transpose:1:0,bytes:big,shuffle,zstd:1,crc32c";
    const expected = await digestOf(source);
    const rechunked = new MemoryStore();
    await rechunk(source, rechunked, { chunks: { y: 4 }, shards: { y: 8, x: 6 }, codec });
    expect(await digestOf(rechunked)).toBe(expected);
    const [here, stored, file] = [folder.next("source.zarr"), folder.next("stored.zarr"), "plan.json"];
    await copy(source, here);
    for (const args of [
      ["plan", "copy", here, stored, "--codec", codec, "--output", file],
      ["run", file, "--task-index", "0", "--task-count", "1"],
      ["finish", file],
    ])
      expect(await runHere(folder.path, ...args)).toMatchObject({ code: 0 });
    expect(await digestOf(stored)).toBe(expected);
  });

  it("is kept where arrays are added", async () => {
    const target = await ofFloats({ codec: "bitround:23,zlib:1" });
    await append(await ofFloats(), target, { dim: "y" });
    const { shape, metadata } = await openArray(target);
    expect([shape, namesOf(metadata.codecs)]).toEqual([[16, 6], "bytes bitround zlib"]);
  });

  it("is for data: coordinates and what describes arrays keep their codecs where values are looked at", async () => {
    const t = { ...array, dataType: "float32", attributes: { grid_mapping: "crs" }, values: floats };
    const y = { shape: [8], dimensionNames: ["y"], dataType: "int64" };
    const group = await given({ arrays: { t, y, crs: { shape: [1], dataType: "float64" } } });
    const codecsOf = async (codec: CodecOption) => {
      const target = new MemoryStore();
      await copy(group, target, { codec });
      const documents = ["t", "y", "crs"].map((path) => jsonAt(target, `${path}/zarr.json`));
      return (await Promise.all(documents)).map(({ codecs }) => namesOf(codecs));
    };
    const rounded = ["numcodecs.bitround bytes gzip", "bytes zstd", "bytes zstd"];
    expect(await codecsOf("bitround:4,gzip:1")).toEqual(rounded);
    expect(await codecsOf("shuffle,gzip:1")).toEqual(Array(3).fill("bytes numcodecs.shuffle gzip"));
    const alone = copy({ store: group, path: "y" }, new MemoryStore(), { codec: "bitround:4" });
    const refusal = { code: "invalid-option", reason: "bitround encodes floats only" };
    await expect(alone).rejects.toMatchObject(refusal);
  });

  it("is refused for an array that it does not fit, before anything is written", async () => {
    const arrays = { t: { ...array, dataType: "float32" }, mask: { ...array, dataType: "int16" } };
    const [group, target] = [await given({ arrays }), new MemoryStore()];
    await expect(copy(group, target, { codec: "bitround:4,zstd" })).rejects.toMatchObject({
      code: "invalid-option",
      details: { path: "mask", expected: "floats", found: "<i2" },
    });
    await copy(group, target, { codec: "delta,zlib", to: "v2", include: ["mask"] });
  });
});
