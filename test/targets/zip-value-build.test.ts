// @module-tag slow
import { describe, expect, it } from "vitest";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { isWritable, type StoreSpec, type TargetBuild } from "../../src/stores/store.ts";
import { openStore } from "../../src/stores/url.ts";
import type { ZipWriter } from "../../src/stores/zip/zip-writer.ts";
import { assertTargetPlace, openTargetBuild, type TargetBuildOptions } from "../../src/targets/index.ts";
import { ResumedZip } from "../../src/targets/resumed-zip.ts";
import { crc32 } from "../../src/util/crc32.ts";
import { refusal } from "../stores/s3-server.ts";
import { assertBytes } from "../stores/support.ts";
import { keysOf } from "../support/consume.ts";
import { type S3Server, withBucket } from "../support/s3-environment.ts";

const one = new Uint8Array([1]);
const two = new Uint8Array([2, 2]);
const LARGE = new Uint8Array(9_000_000).map((_, i) => (i * i) >> 9);
let names = 0;

/** A place for zips, what is there, and how many uploads were begun and not ended, and keys hidden. */
interface Place {
  readonly around: StoreSpec;
  readonly keys: () => Promise<string[]>;
  readonly left: () => number;
}

async function inMemory(run: (place: Place) => Promise<void>): Promise<void> {
  const name = `zip-value-build-${names++}`;
  const store = new MemoryStore(`memory ${name}`);
  nameMemoryStore(name, store);
  await run({ around: { kind: "memory", name }, keys: () => keysOf(store), left: () => 0 });
  nameMemoryStore(name, undefined);
}

const inS3 = (run: (place: Place, server: S3Server) => Promise<void>): Promise<void> =>
  withBucket((server, bucket) => {
    const isHidden = (key: string) => key.includes(".zarrflow-");
    const all = () => [...server.objects.keys()].map((key) => key.replace("zips/", ""));
    const keys = async () => all().filter((key) => !isHidden(key));
    const left = () => server.uploads.size + all().filter(isHidden).length;
    return run({ around: { kind: "s3", bucket, prefix: "zips" }, keys, left }, server);
  });

function begin({ around: store }: Place, options: Partial<TargetBuildOptions> = {}): Promise<TargetBuild> {
  return openTargetBuild({ kind: "zip-value", store, key: "x.zip" }, { ifExists: "error", ...options });
}

async function read({ around }: Place, key: string): Promise<Uint8Array | undefined> {
  const store = await openStore({ kind: "zip-value", store: around, key: "x.zip" });
  try {
    return await store.get(key);
  } finally {
    await store.close?.();
  }
}

async function publishOne(place: Place, value: Uint8Array, options = {}): Promise<void> {
  const build = await begin(place, options);
  await build.store.set("a/0", value);
  await build.publish();
}

describe.each([
  ["in memory", inMemory],
  ["in S3", inS3],
] as const)("a zip that is built %s", (_, within) => {
  it("appears whole when it is published", () =>
    within(async (place) => {
      const build = await begin(place);
      await build.store.set("a/0", one);
      const value = await build.store.openWriter("a/1");
      await value.write(LARGE);
      await value.commit();
      expect(await place.keys()).toEqual([]);
      await build.publish();
      expect(await place.keys()).toEqual(["x.zip"]);
      expect(place.left()).toBe(0);
      expect(await read(place, "a/0")).toEqual(one);
      assertBytes(await read(place, "a/1"), LARGE);
      await build.discard();
      expect(await place.keys()).toEqual(["x.zip"]);
    }));

  it("leaves nothing when it is discarded, whenever that is, nor when its options are none", () =>
    within(async (place) => {
      await expect(begin(place, { deflate: 10 })).rejects.toMatchObject({ code: "invalid-option" });
      for (const steps of ["", "set", "set large", "open", "finish"]) {
        const build = await begin(place);
        if (steps.includes("set")) await build.store.set("a/0", one);
        if (steps.includes("large")) await build.store.set("a/1", LARGE);
        if (steps === "open") await (await build.store.openWriter("a/1")).write(LARGE);
        if (steps === "finish") {
          await build.store.set("a/1", LARGE);
          await build.publish({ signal: AbortSignal.abort("stop") }).catch(() => {});
        }
        await build.discard();
        await build.discard();
        expect(await place.keys()).toEqual([]);
        expect(place.left()).toBe(0);
      }
    }));

  it("is refused where something is, before a byte is written, and in the end", () =>
    within(async (place) => {
      const late = await begin(place);
      await late.store.set("a/0", two);
      const around = await openStore(place.around);
      if (isWritable(around)) await around.set("x.zip", one);
      await expect(begin(place)).rejects.toMatchObject({ code: "target-exists", details: { key: "x.zip" } });
      await expect(late.publish()).rejects.toMatchObject({ code: "target-exists" });
      await late.discard();
      expect(await around.get("x.zip")).toEqual(one);
    }));

  it("replaces at once, and leaves what was there when it is discarded", () =>
    within(async (place) => {
      await publishOne(place, one);
      const build = await begin(place, { ifExists: "replace" });
      await build.store.set("a/0", two);
      expect(await read(place, "a/0")).toEqual(one);
      await build.discard();
      expect(await read(place, "a/0")).toEqual(one);
      await publishOne(place, two, { ifExists: "replace" });
      expect(await read(place, "a/0")).toEqual(two);
    }));

  it("can be read back, visible from then on; it is deleted when it is discarded all the same", () =>
    within(async (place) => {
      for (const end of ["publish", "discard"] as const) {
        const build = await begin(place, { ifExists: "replace" });
        await build.store.set("a/0", one);
        const store = await build.reopen();
        expect(await store.get("a/0")).toEqual(one);
        await store.close?.();
        await expect(build.store.set("a/1", one)).rejects.toMatchObject({ code: "unsupported-operation" });
        await build[end]();
        expect(await place.keys()).toEqual(end === "publish" ? ["x.zip"] : []);
      }
    }));
});

it("a store in memory that has no name gets it with the zip", async () => {
  const place = { kind: "memory", name: "zip-value-build-new" } as const;
  const spec = { kind: "zip-value", store: place, key: "x.zip" } as const;
  await assertTargetPlace(spec, { ifExists: "error" });
  await (await openTargetBuild(spec, { ifExists: "error" })).discard();
  expect(namedMemoryStore(place.name)).toBeUndefined();
  await publishOne({ around: place, keys: async () => [], left: () => 0 }, one);
  expect(await (await openStore(spec)).get("a/0")).toEqual(one);
  await assertTargetPlace(spec, { ifExists: "replace" });
  const checked = assertTargetPlace(spec, { ifExists: "error" });
  await expect(checked).rejects.toMatchObject({ code: "target-exists" });
  nameMemoryStore(place.name, undefined);
});

it("a web server, and a zip, cannot hold one", async () => {
  const store = { kind: "http", url: "http://127.0.0.1:1/data" } as const;
  const fault = { code: "unsupported-operation", details: { store: "http://127.0.0.1:1/data" } };
  for (const begin of [openTargetBuild, assertTargetPlace]) {
    const begun = begin({ kind: "zip-value", store, key: "x.zip" }, { ifExists: "error" });
    await expect(begun).rejects.toMatchObject(fault);
  }
});

describe("a zip that is built in S3", () => {
  const fill = async ({ store }: TargetBuild) => {
    for (let i = 0; i < 20; i++) await store.set(`a/${i}`, LARGE.subarray(0, 2 ** 20));
  };

  it.each([
    [undefined, 3],
    [100e9, 2],
  ])("is uploaded in parts while it is written, sized by what is expected of it: %s", (expectedSize, parts) =>
    inS3(async (place, server) => {
      const build = await begin(place, { expectedSize });
      const sent = () => server.requests.filter(({ query }) => query.has("partNumber")).length;
      await fill(build);
      expect(sent()).toBe(parts - 1);
      await build.publish();
      expect(sent()).toBe(parts);
    }),
  );

  it("whose upload fails says why, to every call, and is aborted", () =>
    inS3(async (place, server) => {
      const build = await begin(place);
      server.fault = (response, request) =>
        request.query.get("partNumber") === "2" && refusal(403, "AccessDenied")(response, request);
      const denied = { code: "access-denied", details: { key: "x.zip" } };
      await expect(fill(build).then(() => fill(build))).rejects.toMatchObject(denied);
      await expect(build.publish()).rejects.toMatchObject(denied);
      await build.discard();
      expect([server.uploads.size, server.objects.size]).toEqual([0, 0]);
    }));
});

it("a value of an unfinished zip can be written again as a stream, another value cannot", async () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const entry = { name: bytesOf("a/0"), size: 5, crc32: crc32(bytesOf("value")) };
  const zip = new ResumedZip({ description: "a.zip" } as ZipWriter, [entry] as never);
  const write = async (text: string) => {
    const writer = await zip.openWriter("a/0");
    for (const letter of text) await writer.write(bytesOf(letter));
    await writer.commit();
  };
  await write("value");
  for (const other of ["other", "longer"])
    await expect(write(other)).rejects.toMatchObject({ code: "target-not-empty" });
});
