// @module-tag slow
import { describe, expect, it } from "vitest";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import { isWritable, type StoreSpec, type TargetBuild } from "../../../src/stores/store.ts";
import { assertTargetPlace, openTargetBuild, type TargetBuildOptions } from "../../../src/stores/target.ts";
import { openStore } from "../../../src/stores/url.ts";
import { all } from "../../support/consume.ts";
import { type S3Server, withBucket } from "../../support/s3-environment.ts";
import { assertBytes } from "../support.ts";

const one = new Uint8Array([1]);
const two = new Uint8Array([2, 2]);
const LARGE = new Uint8Array(9_000_000).map((_, i) => (i * i) >> 9);
let names = 0;

/** A place for zips, and what is there. */
interface Place {
  readonly around: StoreSpec;
  readonly keys: () => Promise<string[]>;
  /** Uploads that were begun and not ended, and hidden keys. */
  readonly left: () => number;
}

async function inMemory(run: (place: Place) => Promise<void>): Promise<void> {
  const name = `zip-value-build-${names++}`;
  nameMemoryStore(name, new MemoryStore(`memory ${name}`));
  const keys = async () => (await all(namedMemoryStore(name)?.list("") ?? [])).map(({ key }) => key);
  await run({ around: { kind: "memory", name }, keys, left: () => 0 });
  nameMemoryStore(name, undefined);
}

async function inS3(run: (place: Place, server: S3Server) => Promise<void>): Promise<void> {
  await withBucket((server, bucket) =>
    run(
      {
        around: { kind: "s3", bucket, prefix: "zips" },
        keys: async () =>
          [...server.objects.keys()].map((key) => key.replace("zips/", "")).filter((key) => !isHidden(key)),
        left: () => server.uploads.size + [...server.objects.keys()].filter(isHidden).length,
      },
      server,
    ),
  );
}

const isHidden = (key: string) => key.includes(".zarrflow-");

function begin({ around }: Place, options: Partial<TargetBuildOptions> = {}): Promise<TargetBuild> {
  return openTargetBuild(
    { kind: "zip-value", store: around, key: "x.zip" },
    { ifExists: "error", ...options },
  );
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

  it("leaves nothing when it is discarded, whenever that is", () =>
    within(async (place) => {
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

  it("refuses options that are none, and leaves nothing", () =>
    within(async (place) => {
      await expect(begin(place, { deflate: 10 })).rejects.toMatchObject({ code: "invalid-option" });
      expect(await place.keys()).toEqual([]);
      expect(place.left()).toBe(0);
    }));
});

it("a store in memory that has no name gets it with the zip", async () => {
  const place = { kind: "memory", name: "zip-value-build-new" } as const;
  const spec = { kind: "zip-value", store: place, key: "x.zip" } as const;
  await assertTargetPlace(spec, { ifExists: "error" });
  const given = await openTargetBuild(spec, { ifExists: "error" });
  await given.discard();
  expect(namedMemoryStore(place.name)).toBeUndefined();
  const build = await openTargetBuild(spec, { ifExists: "error" });
  await build.store.set("a", one);
  await build.publish();
  expect(await (await openStore(spec)).get("a")).toEqual(one);
  await assertTargetPlace(spec, { ifExists: "replace" });
  await expect(assertTargetPlace(spec, { ifExists: "error" })).rejects.toMatchObject({
    code: "target-exists",
  });
  nameMemoryStore(place.name, undefined);
});

it("a web server, and a zip, cannot hold one", async () => {
  const store = { kind: "http", url: "http://127.0.0.1:1/data" } as const;
  for (const begin of [openTargetBuild, assertTargetPlace]) {
    await expect(
      begin({ kind: "zip-value", store, key: "x.zip" }, { ifExists: "error" }),
    ).rejects.toMatchObject({ code: "unsupported-operation", details: { store: "http://127.0.0.1:1/data" } });
  }
});

describe("a zip that is built in S3", () => {
  it("is uploaded in parts while it is written, sized by what is expected of it", () =>
    inS3(async (place, server) => {
      for (const [expectedSize, parts] of [
        [undefined, 3],
        [100e9, 2],
      ] as const) {
        const build = await begin(place, { expectedSize, ifExists: "replace" });
        const before = server.requests.length;
        for (let i = 0; i < 20; i++) await build.store.set(`a/${i}`, LARGE.subarray(0, 2 ** 20));
        const sent = server.requests.slice(before).filter(({ query }) => query.has("partNumber"));
        expect(sent.length).toBe(parts - 1);
        await build.publish();
        const all = server.requests.slice(before).filter(({ query }) => query.has("partNumber"));
        expect(all.length).toBe(parts);
      }
    }));

  it("whose upload fails says why, to every call, and is aborted", () =>
    inS3(async (place, server) => {
      const build = await begin(place);
      const refuse: (typeof server.faults)[number] = (response, { query }) => {
        server.faults.push(refuse);
        if (query.get("partNumber") !== "2") return false;
        response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
        return true;
      };
      server.faults.push(refuse);
      const fill = async () => {
        for (let i = 0; i < 30; i++) await build.store.set(`a/${i}`, LARGE.subarray(0, 2 ** 20));
      };
      const denied = { code: "access-denied", details: { key: "x.zip" } };
      await expect(fill()).rejects.toMatchObject(denied);
      await expect(build.publish()).rejects.toMatchObject(denied);
      await build.discard();
      expect(server.uploads.size).toBe(0);
      expect(server.objects.size).toBe(0);
    }));
});
