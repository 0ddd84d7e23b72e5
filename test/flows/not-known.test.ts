import { describe, expect, it, onTestFinished } from "vitest";
import type { FlowEvent } from "../../src/flows/events.ts";
import {
  convert,
  copy,
  diff,
  digest,
  info,
  openArray,
  rechunk,
  slice,
  sliceTo,
  tree,
  validate,
} from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { all, contentsOf } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";

const array = {
  ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "int16", fill_value: 0 },
  chunk_grid: { name: "regular", configuration: { chunk_shape: [4] } },
  chunk_key_encoding: { name: "default" },
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
};

const UNKNOWN = {
  "a chunk grid": { chunk_grid: { name: "rectilinear", configuration: { chunk_shapes: [[1, 3]] } } },
  "a data type": { data_type: "bfloat16" },
  "a codec": { codecs: [...array.codecs, { name: "nosuch" }] },
  "a chunk key encoding": { chunk_key_encoding: { name: "suffix" } },
  "a storage transformer": { storage_transformers: [{ name: "chunk-manifest-json" }] },
  "an extension": { sharing: { name: "x" } },
};

/** A group with an array that is known, and one with something that is not. */
async function group(unknown: object): Promise<MemoryStore> {
  const known = { chunks: [2], dataType: "int16", fillValue: 0, values: [1, 2, 3, 4, 5, 6] };
  const store = await given({ zarrFormat: "v3", arrays: { known }, consolidated: true });
  const chunks = { "other/c/0": Uint8Array.of(1, 2, 3), "other/x/1": Uint8Array.of(4) };
  return givenKeys({ "other/zarr.json": { ...array, ...unknown }, ...chunks }, store);
}

function warningsInto(found: string[]) {
  return (event: FlowEvent | { readonly type: string }) => {
    if (event.type === "warning" && "message" in event && "path" in event)
      found.push(`${event.path}: ${event.message}`);
  };
}

describe.each(Object.entries(UNKNOWN))("an array with %s that is not known", (name, unknown) => {
  it("is copied byte for byte, with a warning, where its format stays", async () => {
    const source = await group(unknown);
    const before = await contentsOf(source, "other/");
    const [copied, rechunked] = [new MemoryStore(), new MemoryStore()];
    const warnings: string[] = [];
    await copy(source, copied, { onEvent: warningsInto(warnings) });
    expect(await contentsOf(copied, "")).toEqual(await contentsOf(source, ""));
    await rechunk(source, rechunked, { chunks: "known:3", onEvent: warningsInto(warnings) });
    expect(await contentsOf(rechunked, "other/")).toEqual(before);
    const known = await openArray({ store: rechunked, path: "known" });
    expect(known.chunkShape).toEqual([3]);
    expect([...((await slice(known).read()).data as Int16Array)]).toEqual([1, 2, 3, 4, 5, 6]);
    const root = JSON.parse(new TextDecoder().decode(await rechunked.get("zarr.json")));
    expect(Object.keys(root.consolidated_metadata.metadata)).toEqual(["known", "other"]);
    expect(warnings).toEqual([expect.stringMatching(/^other: .*byte for byte/), warnings[0]]);
  });

  it("is refused by name where it would have to change, and left out on request", async () => {
    const source = await group(unknown);
    const refusal = { details: { path: "other" } };
    await expect(convert(source, new MemoryStore(), { to: "v2" })).rejects.toMatchObject(refusal);
    await expect(sliceTo(source, new MemoryStore(), { slice: "known:0:2" })).rejects.toMatchObject({});
    await convert(source, new MemoryStore(), { to: "v2", exclude: "other" });
  });

  it("is shown as such by tree and info, and named by digest, validate and diff", async () => {
    const source = await group(unknown);
    // all but the values of an array with such a codec is known
    const kind = name === "a codec" ? "array" : "unsupported";
    expect((await all(tree(source))).at(-1)).toMatchObject({ path: "other", kind });
    expect((await all(info(source, { all: true }))).at(-1)).toMatchObject({
      ...{ kind: "totals", broken: 0, unsupported: name === "a codec" ? 0 : 1 },
    });
    const warnings: string[] = [];
    const digests = await all(digest(source, { onEvent: warningsInto(warnings) }));
    expect(digests.map(({ path }) => path)).toEqual(["known"]);
    expect(warnings).toEqual([expect.stringMatching(/^other: /)]);
    const findings = await all(validate(source));
    expect(findings.filter(({ path, what }) => path === "other" && what === "metadata")).toMatchObject([
      { level: "warning" },
    ]);
    // the group was consolidated before the array came
    const errors = findings.filter(({ level, what }) => level === "error" && what !== "stale-consolidated");
    expect(errors).toEqual([]);
    const same = await group(unknown);
    const noted: string[] = [];
    expect(await all(diff(source, same, { onEvent: warningsInto(noted) }))).toEqual([]);
    expect(noted).toEqual([expect.stringMatching(/^other: /)]);
    await same.set("other/c/0", Uint8Array.of(1, 2, 4));
    expect(await all(diff(source, same))).toMatchObject([
      { path: "other", what: "stored bytes", counts: true },
    ]);
  });
});

it("an array by itself that is not known is copied byte for byte", async () => {
  const store = new MemoryStore();
  nameMemoryStore("not-known", store);
  onTestFinished(() => nameMemoryStore("not-known", undefined));
  await givenKeys({ "zarr.json": { ...array, ...UNKNOWN["a data type"] } }, store);
  await store.set("c/0", Uint8Array.of(1, 2));
  const target = new MemoryStore();
  const messages: string[] = [];
  await copy("memory:not-known", target, {
    onEvent: (event) => void (event.type === "warning" && messages.push(event.message)),
  });
  expect(await contentsOf(target, "")).toEqual(await contentsOf(store, ""));
  expect(messages).toEqual([expect.stringContaining("byte for byte")]);
});
