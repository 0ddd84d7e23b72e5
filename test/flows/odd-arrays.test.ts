import { describe, expect, it } from "vitest";
import {
  append,
  convert,
  copy,
  create,
  diff,
  digest,
  info,
  openArray,
  rechunk,
  resizeArray,
  sliceTo,
  tree,
  validate,
} from "../../src/index.ts";
import { MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import { streamFrom } from "../../src/util/web-streams.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { all, contentsOf, drain, itemsOf } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { heard } from "../support/heard.ts";
import { memoryTargets } from "../support/memory-targets.ts";

const target = memoryTargets();

const array = {
  ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "int16", fill_value: 0 },
  chunk_grid: { name: "regular", configuration: { chunk_shape: [4] } },
  chunk_key_encoding: { name: "default" },
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
};
const into = () => new MemoryStore();

const UNKNOWN = {
  "a chunk grid": { chunk_grid: { name: "rectilinear", configuration: { chunk_shapes: [[1, 3]] } } },
  "a data type": { data_type: "float8_e5m2" },
  "a codec": { codecs: [...array.codecs, { name: "nosuch" }] },
  "a chunk key encoding": { chunk_key_encoding: { name: "suffix" } },
  "a storage transformer": { storage_transformers: [{ name: "chunk-manifest-json" }] },
  "an extension": { sharing: { name: "x" } },
};

describe.each(Object.entries(UNKNOWN))("an array with %s that is not known", (name, unknown) => {
  /** A group with an array that is known, and one with something that is not. */
  async function group(): Promise<MemoryStore> {
    const known = {
      chunks: [2],
      dimensionNames: ["x"],
      dataType: "int16",
      fillValue: 0,
      values: [1, 2, 3, 4, 5, 6],
    };
    const store = await given({ arrays: { known }, consolidated: true });
    const chunks = { "other/c/0": Uint8Array.of(1, 2, 3), "other/x/1": Uint8Array.of(4) };
    return givenKeys({ "other/zarr.json": { ...array, ...unknown }, ...chunks }, store);
  }

  it("is copied byte for byte, with a warning, where its format stays", async () => {
    const [source, copied, rechunked] = [await group(), into(), into()];
    const { warnings, onEvent } = heard();
    await copy(source, copied, { onEvent });
    expect(await contentsOf(copied)).toEqual(await contentsOf(source));
    await rechunk(source, rechunked, { chunks: "known:3", onEvent });
    expect(await contentsOf(rechunked, "other/")).toEqual(await contentsOf(source, "other/"));
    const known = await openArray({ store: rechunked, path: "known" });
    expect(known.chunkShape).toEqual([3]);
    expect(await itemsOf(rechunked, "known")).toEqual([1, 2, 3, 4, 5, 6]);
    const root = await jsonAt(rechunked, "zarr.json");
    expect(Object.keys(root.consolidated_metadata.metadata)).toEqual(["known", "other"]);
    expect(warnings).toEqual([expect.stringMatching(/^other: .*byte for byte/), warnings[0]]);
  });

  it("is copied by itself, by its path in an open store", async () => {
    const [source, copied] = [await group(), into()];
    const { warnings, onEvent } = heard();
    await copy({ store: source, path: "other" }, copied, { onEvent });
    const documents = await contentsOf(source, "other/");
    expect(Object.values(await contentsOf(copied))).toEqual(Object.values(documents));
    expect(warnings).toEqual([expect.stringMatching(/byte for byte/)]);
  });

  it("is refused by name where it would have to change, and left out on request", async () => {
    const source = await group();
    const refusal = { details: { path: "other" } };
    await expect(convert(source, into(), { to: "v2" })).rejects.toMatchObject(refusal);
    const sliced = sliceTo(source, into(), { slice: { x: [0, 2] } });
    if (name === "a codec") await sliced;
    else await expect(sliced).rejects.toMatchObject(refusal);
    await convert(source, into(), { to: "v2", exclude: "other" });
  });

  it("is shown as such by tree and info, and named by digest, validate and diff", async () => {
    const [source, same] = [await group(), await group()];
    // all but the values of an array with such a codec is known
    const isCodec = name === "a codec";
    const node = { path: "other", kind: isCodec ? "array" : "unsupported" };
    expect((await all(tree(source))).at(-1)).toMatchObject(node);
    const totals = { kind: "totals", broken: 0, unsupported: isCodec ? 0 : 1 };
    expect((await all(info(source, { all: true }))).at(-1)).toMatchObject(totals);
    const { warnings, onEvent } = heard();
    expect((await all(digest(source, { onEvent }))).map(({ path }) => path)).toEqual(["known"]);
    expect(await all(diff(source, same, { onEvent }))).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/^other: /), expect.stringMatching(/^other: /)]);
    const findings = await all(validate(source));
    const said = findings.filter(({ path, what }) => path === "other" && what === "metadata");
    expect(said).toMatchObject([{ level: "warning" }]);
    // the group was consolidated before the array came
    const errors = findings.filter(({ level, what }) => level === "error" && what !== "stale-consolidated");
    expect(errors).toEqual([]);
    await same.set("other/c/0", Uint8Array.of(1, 2, 4));
    const difference = { path: "other", what: "stored bytes", counts: true };
    expect(await all(diff(source, same))).toMatchObject([difference]);
  });
});

it("an array by itself that is not known is copied byte for byte", async () => {
  const source = await given({ at: target("not-known"), groups: {} });
  const store = namedMemoryStore("not-known") as MemoryStore;
  await givenKeys(
    { "zarr.json": { ...array, ...UNKNOWN["a data type"] }, "c/0": Uint8Array.of(1, 2) },
    store,
  );
  const copied = into();
  const { messages, onEvent } = heard();
  await copy(source, copied, { onEvent });
  expect(await contentsOf(copied)).toEqual(await contentsOf(store));
  expect(messages).toEqual([expect.stringContaining("byte for byte")]);
});

describe.each(["v2", "v3"] as const)("an array of %s without items, in chunks of length 0", (zarrFormat) => {
  const grid = {
    zarrFormat,
    dataType: "int16",
    dimensionNames: ["t", "x"],
    fillValue: 0,
    codec: "none",
  } as const;

  /** A group with an array of no times, whose document states chunks of length 0, as some writers do. */
  async function emptyGroup(): Promise<MemoryStore> {
    const store = await given({ zarrFormat, arrays: { v: { ...grid, shape: [0, 3], chunks: [1, 3] } } });
    const key = zarrFormat === "v2" ? "v/.zarray" : "v/zarr.json";
    const document = JSON.stringify(await jsonAt(store, key)).replace("[1,3]", "[0,3]");
    return givenKeys({ [key]: document }, store);
  }

  /** Chunk lengths that the document of an array states. */
  async function chunksIn(store: MemoryStore, path = "v/"): Promise<unknown> {
    const document = (await jsonAt(store, `${path}zarr.json`)) ?? (await jsonAt(store, `${path}.zarray`));
    return document.chunks ?? document.chunk_grid.configuration.chunk_shape;
  }

  it("stays as it is in a plain copy, and gets chunks of length 1 where anything changes", async () => {
    const flows = {
      "0,3": (to: MemoryStore, from: MemoryStore) => copy(from, to),
      "1,3 v2": (to: MemoryStore, from: MemoryStore) => convert(from, to, { to: "v2" }),
      "1,3 v3": (to: MemoryStore, from: MemoryStore) => convert(from, to, { to: "v3" }),
      "1,3": (to: MemoryStore, from: MemoryStore) => rechunk(from, to, { chunks: { t: -1 } }),
      "1,2": (to: MemoryStore, from: MemoryStore) => sliceTo(from, to, { slice: { x: [0, 2] } }),
    };
    for (const [chunks, flow] of Object.entries(flows)) {
      const target = into();
      await flow(target, await emptyGroup());
      expect(String(await chunksIn(target))).toBe(chunks.split(" ")[0]);
    }
    const resized = await emptyGroup();
    await resizeArray(await openArray({ store: resized, path: "v" }), [4, 3]);
    expect(await chunksIn(resized)).toEqual([1, 3]);
    const store = await emptyGroup();
    const more = await given({ ...grid, shape: [2, 3], values: [1, 2, 3, 4, 5, 6] });
    await append(more, await openArray({ store, path: "v" }), { dim: "t" });
    expect(await chunksIn(store)).toEqual([1, 3]);
    expect(await itemsOf(store, "v")).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("is made so by create and slices of nothing", async () => {
    for (const chunks of [
      [-1, 3],
      [0, 3],
    ]) {
      const made = into();
      await (await create(made, { ...grid, shape: [0, 3], chunks })).close();
      expect(await chunksIn(made, "")).toEqual([1, 3]);
    }
    const sliced = into();
    await sliceTo(await given({ ...grid, shape: [4, 3], chunks: [2, 3] }), sliced, { slice: [[2, 2]] });
    expect(await chunksIn(sliced, "")).toEqual([1, 3]);
  });
});

it("attributes with a bare NaN, as Python writes them, survive a rechunk byte for byte", async () => {
  const [store, target] = [
    await given({ zarrFormat: "v2", shape: [4], chunks: [2], dataType: "int8" }),
    into(),
  ];
  const attributes = '{"_FillValue": NaN,\n "units":"K", "_ARRAY_DIMENSIONS": ["x"]}';
  await givenKeys({ ".zattrs": attributes }, store);
  await rechunk(await openArray(store), target, { chunks: { x: 4 } });
  expect(new TextDecoder().decode(await target.get(".zattrs"))).toBe(attributes);
});

describe("info of a group", () => {
  const names = Array.from({ length: 20 }, (_, i) => `a${String(i).padStart(2, "0")}`);
  const group = (count: number) =>
    givenKeys({
      "zarr.json": { zarr_format: 3, node_type: "group", attributes: { title: "many" } },
      ...Object.fromEntries(names.slice(0, count).map((name) => [`${name}/zarr.json`, array])),
    });

  it("lists the keys of several arrays at one time, and describes them in order", async () => {
    const store = await group(20);
    const { list } = store;
    let [now, most] = [0, 0];
    async function* slow(...args: Parameters<typeof list>) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield* list.apply(store, args);
      now--;
    }
    store.list = (...args) => streamFrom(slow(...args));
    expect((await all(info(store))).map(({ path }) => path)).toEqual(names);
    expect(most).toBeGreaterThan(4);
  });

  it("throws for the first broken node, or with `all` reports it and adds up the others", async () => {
    const store = await givenKeys({ "a01/zarr.json": "{" }, await group(3));
    const nodes = await all(info(store, { all: true }));
    expect(nodes.map((node) => node.kind)).toEqual(["group", "array", "broken", "array", "totals"]);
    expect(nodes[0]).toMatchObject({ attributes: { title: "many" } });
    expect(nodes.at(-1)).toMatchObject({ arrays: 2, groups: 1, broken: 1, chunks: 2, chunksPresent: 0 });
    await expect(drain(info(store))).rejects.toMatchObject({ code: "invalid-metadata" });
  });
});
