// @module-tag slow
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { estimateCopy } from "../../../src/flows/estimate-copy.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { runFlow } from "../../../src/flows/run-flow.ts";
import { copy, open, openGroup, setAttributes, walk } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { type MemoryStore, namedMemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import type { ListableStore, WritableStore } from "../../../src/stores/store.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { expectTrueConsolidation } from "../../hierarchy/fresh-consolidation.ts";
import { BUCKET, type S3Server } from "../../stores/s3-server.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { all, contentsOf } from "../../support/consume.ts";
import { makeHierarchy } from "../../support/made-hierarchy.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";

type Values = ListableStore & WritableStore;

const text = (words: string) => new TextEncoder().encode(words);

const nodesOf = async (url: string) => (await all(walk(await openGroup(url)))).map(({ path }) => path);

let source: MemoryStore;
beforeEach(async () => {
  source = await makeHierarchy("v3", { consolidated: true });
  nameMemoryStore("update-source", source);
});
afterEach(() => {
  for (const name of ["update-source", "update-target"]) nameMemoryStore(name, undefined);
});
const named = (name: string) => namedMemoryStore(name) as MemoryStore;
const FROM = "memory:update-source";

/** What a store is asked to change. */
function changesIn(store: Values, log: string[]): Values {
  return withRequestLog(store, ({ operation, key }) => {
    if (!["get", "size", "list"].includes(operation)) log.push(`${operation} ${key}`);
  }) as Values;
}

describe.each(["v2", "v3"] as const)("an update of a target in memory, %s", (zarrFormat) => {
  let target: MemoryStore;
  const TO = "memory:update-target";
  beforeEach(async () => {
    source = await makeHierarchy(zarrFormat, { consolidated: true });
    nameMemoryStore("update-source", source);
    await copy(FROM, TO);
    target = named("update-target");
  });
  const chunk = zarrFormat === "v2" ? "2024/t2m/0.0" : "2024/t2m/c/0/0";
  const stale = zarrFormat === "v2" ? "2024/t2m/1.9" : "2024/t2m/c/1/9";

  test("of what is right writes nothing", async () => {
    const log: string[] = [];
    nameMemoryStore("update-target", changesIn(target, log) as MemoryStore);
    const keys = Object.keys(await contentsOf(source)).length;
    const report = await copy(FROM, TO, { ifExists: "update", verify: true });
    expect(log).toEqual([]);
    expect(report).toMatchObject({ keysWritten: 0, keysDeleted: 0, keysKept: keys, bytesWritten: 0 });
  });

  test("makes it what the source is: changed, new and stale keys", async () => {
    const twelve = new Uint8Array(12).fill(7);
    await source.set(chunk, twelve);
    await source.set("new/deep.txt", text("new"));
    await source.delete("notes.txt");
    await setAttributes(await open(`${FROM}/2024`), { year: 2025 });
    await target.set(stale, twelve);
    await target.set("mine.txt", text("mine"));
    const report = await copy(FROM, TO, { ifExists: "update", verify: true });
    expect(await contentsOf(target)).toEqual(await contentsOf(source));
    expect(report).toMatchObject({ keysDeleted: 3, keysVerified: report.keysWritten });
    expect(report.keysWritten).toBeLessThan(8);
    await expectTrueConsolidation(target);
  });

  test("takes an array away that the source has no more, documents first", async () => {
    const log: string[] = [];
    // its consolidated metadata are made anew by whoever deletes it
    await copy(FROM, "memory:update-clean", { exclude: "2023/u10" });
    nameMemoryStore("update-source", namedMemoryStore("update-clean"));
    nameMemoryStore("update-target", changesIn(target, log) as MemoryStore);
    await copy(FROM, TO, { ifExists: "update" });
    expect(await contentsOf(target)).toEqual(await contentsOf(named("update-clean")));
    const deleted = log.filter((line) => line.startsWith("delete 2023/u10/"));
    expect(deleted[0]).toMatch(/zarr\.json|\.zarray|\.zattrs/);
    nameMemoryStore("update-clean", undefined);
  });

  test.each(["set", "delete"] as const)("is never seen half: cut at each %s", async (cut) => {
    const old = await contentsOf(target);
    for (const name of ["t2m", "u10"]) {
      const changed = chunk.replace("t2m", name);
      for (const key of [changed, changed.replace(/0$/, "1")])
        await source.set(key, new Uint8Array(12).fill(9));
      await target.set(stale.replace("t2m", name), new Uint8Array(12));
      old[stale.replace("t2m", name)] = "00".repeat(12);
    }
    const next = await contentsOf(source);
    const below = (content: Record<string, string>, path: string) =>
      Object.entries(content)
        .filter(([key]) => key.startsWith(`${path}/`))
        .sort(([a], [b]) => (a < b ? -1 : 1));
    let isDone = false;
    for (let calls = 1; !isDone; calls++) {
      let left = calls;
      const cutting = new Proxy(target, {
        get(store, property) {
          if (property === "setSync") return undefined;
          const value = Reflect.get(store, property);
          if (typeof value !== "function" || property !== cut) return value?.bind?.(store) ?? value;
          return (...args: unknown[]) => {
            if (left-- <= 0) throw new ZarrflowError("no-space", "cut");
            return value.apply(store, args);
          };
        },
      });
      nameMemoryStore("update-target", cutting);
      const error = await copy(FROM, TO, { ifExists: "update", concurrency: 3 }).catch((thrown) => thrown);
      isDone = !(error instanceof Error);
      if (!isDone) expect(error).toMatchObject({ code: "no-space" });
      nameMemoryStore("update-target", target);
      const now = await contentsOf(target);
      for (const path of await nodesOf(TO)) {
        if ((await open(`${TO}/${path}`)).kind === "group") continue;
        const states = [old, next].map((content) => below(content, path));
        expect(states, `${path} after ${calls} calls`).toContainEqual(below(now, path));
      }
      if (isDone) expect(now).toEqual(next);
    }
  });

  test("leaves alone what a filter does not take", async () => {
    await source.set(chunk, new Uint8Array(12).fill(5));
    const other = chunk.replace("t2m", "u10");
    await source.set(other, new Uint8Array(12).fill(5));
    await target.set("mine.txt", text("mine"));
    const before = await contentsOf(target);
    await copy(FROM, TO, { ifExists: "update", include: "t2m" });
    const after = await contentsOf(target);
    expect(after[chunk]).toBe("05".repeat(12));
    expect(after[other]).toBe(before[other]);
    expect(after["mine.txt"]).toBe(before["mine.txt"]);
    expect(await nodesOf(TO)).toEqual(await nodesOf(FROM));
    await expectTrueConsolidation(target);
  });

  test("goes on after an array as the root was cut, and never removes what is no Zarr", async () => {
    nameMemoryStore("update-target", undefined);
    await copy(`${FROM}/2024/t2m`, TO, { ifExists: "update" });
    const array = named("update-target");
    const whole = await contentsOf(array);
    await array.delete(zarrFormat === "v2" ? ".zarray" : "zarr.json");
    await array.set(chunk.slice("2024/t2m/".length), new Uint8Array(12));
    await copy(`${FROM}/2024/t2m`, TO, { ifExists: "update" });
    expect(await contentsOf(array)).toEqual(whole);
    await array.delete(zarrFormat === "v2" ? ".zarray" : "zarr.json");
    await array.set("thesis.txt", text("mine"));
    const refused = { code: "target-not-empty", details: { key: "thesis.txt" } };
    await expect(copy(`${FROM}/2024/t2m`, TO, { ifExists: "update" })).rejects.toMatchObject(refused);
    expect(await array.size("thesis.txt")).toBe(4);
  });
});

describe("an update", () => {
  const TO = "memory:update-target";

  test("is refused where something changes on the way, and of another format", async () => {
    await copy(FROM, TO);
    const update = { ifExists: "update" } as const;
    const changed = copy(FROM, TO, { ...update, codec: "zlib:1" });
    await expect(changed).rejects.toMatchObject({ code: "invalid-option" });
    await expect(copy(FROM, TO, { ...update, to: "v2" })).rejects.toMatchObject({ code: "target-exists" });
    nameMemoryStore("update-source", await makeHierarchy("v2"));
    await expect(copy(FROM, TO, update)).rejects.toMatchObject({ code: "target-exists" });
  });

  test("keeps to a small budget, also where large values are compared", async () => {
    for (let i = 0; i < 8; i++) await source.set(`large/${i}`, new Uint8Array(700_000).fill(i));
    await copy(FROM, TO);
    await source.set("large/3", new Uint8Array(700_000).fill(33));
    await source.set("large/5", new Uint8Array(600_000));
    const maxMemory = 100_000;
    const report = await copy(FROM, TO, { ifExists: "update", maxMemory });
    expect(report).toMatchObject({ keysWritten: 2, keysDeleted: 0 });
    expect(report.peakBuffers).toBeLessThanOrEqual(maxMemory);
    expect(await contentsOf(named("update-target"))).toEqual(await contentsOf(source));
  });

  test("is refused where a listing is not sorted", async () => {
    await copy(FROM, TO);
    const store = named("update-target");
    const unsorted = new Proxy(store, {
      get(target, property) {
        if (property === "list")
          return async function* (prefix: string) {
            yield* (await all(target.list(prefix))).reverse();
          };
        const value = Reflect.get(target, property);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    nameMemoryStore("update-target", unsorted);
    await source.set("notes.txt", text("other"));
    await expect(copy(FROM, TO, { ifExists: "update" })).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });
});

describe("an update of files and buckets", () => {
  let folder: string;
  let server: S3Server;
  const places = temporaryFolder();
  beforeEach(async () => {
    folder = places.next("");
    await mkdir(folder, { recursive: true });
    server = await serveReachableBucket();
  });
  afterEach(() => server.close());

  test("a directory: files that are right are not touched, no temporary file is left", async () => {
    const to = join(folder, "x.zarr");
    await copy(FROM, to);
    const kept = await stat(join(to, "2023/t2m/c/0/0"));
    await source.set("2024/t2m/c/0/0", new Uint8Array(12).fill(3));
    await source.delete("readme.md");
    const report = await copy(FROM, to, { ifExists: "update" });
    expect(report).toMatchObject({ keysDeleted: 1 });
    expect(await contentsOf(new DirectoryStore(to))).toEqual(await contentsOf(source));
    const now = await stat(join(to, "2023/t2m/c/0/0"));
    expect([now.ino, now.mtimeMs]).toEqual([kept.ino, kept.mtimeMs]);
    expect((await readdir(to, { recursive: true })).filter((name) => name.includes("zarrflow"))).toEqual([]);
    expect(await readdir(folder)).toEqual(["x.zarr"]);
  });

  test("a directory: files become folders, and folders become files", async () => {
    const to = join(folder, "x.zarr");
    for (const key of ["a", "b/c/d", "b-", "e/.zgroup"]) await source.set(key, text(key));
    await copy(FROM, to);
    for (const key of ["a", "b/c/d", "e/.zgroup"]) await source.delete(key);
    for (const key of ["a/b", "b", "e"]) await source.set(key, text("other"));
    const report = await copy(FROM, to, { ifExists: "update", verify: true });
    expect(report).toMatchObject({ keysWritten: 3, keysDeleted: 3 });
    expect(await contentsOf(new DirectoryStore(to))).toEqual(await contentsOf(source));
  });

  test.each(["v2", "v3"] as const)("is what its estimate says, %s", async (zarrFormat) => {
    nameMemoryStore("update-source", await makeHierarchy(zarrFormat, { consolidated: true }));
    const to = join(folder, "x.zarr");
    await copy(FROM, to);
    const there = new DirectoryStore(to);
    await there.set(zarrFormat === "v2" ? "2024/t2m/0.0" : "2024/t2m/c/0/0", new Uint8Array(12));
    const other = zarrFormat === "v2" ? "mine/zarr.json" : "mine/.zarray";
    for (const key of ["mine.txt", other]) await there.set(key, text("{}"));
    await there.set("notes.txt", text("other"));
    const planned = await planFlow(FROM, to, { ifExists: "update" });
    const { keys, bytes, keysKept, keysDeleted } = await estimateCopy(planned);
    const report = await runFlow(planned, {});
    const { keysWritten, bytesWritten } = report;
    expect(report).toMatchObject({ keysKept, keysDeleted });
    expect([keysWritten, bytesWritten]).toEqual([keys, bytes]);
  });

  test("a zip is refused; as the source it is compared by its checksums, without reading it", async () => {
    const [zip, to] = [join(folder, "x.zarr.zip"), join(folder, "x.zarr")];
    await copy(FROM, zip);
    const refused = {
      code: "unsupported-operation",
      details: { hint: expect.stringMatching(/^Replace it/) },
    };
    await expect(copy(FROM, zip, { ifExists: "update" })).rejects.toMatchObject(refused);
    await copy(zip, to);
    expect(await copy(zip, to, { ifExists: "update" })).toMatchObject({ keysWritten: 0, keysDeleted: 0 });
    await new DirectoryStore(to).set("2024/t2m/c/0/0", new Uint8Array(12));
    await copy(zip, to, { ifExists: "update" });
    expect(await contentsOf(new DirectoryStore(to))).toEqual(await contentsOf(source));
  });

  test("a bucket as the source is compared by the MD5 of its listing, without reading it", async () => {
    const from = `s3://${BUCKET}/x.zarr`;
    const to = join(folder, "x.zarr");
    await copy(FROM, from);
    await copy(from, to);
    await new DirectoryStore(to).set("2024/t2m/c/0/0", new Uint8Array(12));
    server.requests.length = 0;
    await copy(from, to, { ifExists: "update" });
    expect(await contentsOf(new DirectoryStore(to))).toEqual(await contentsOf(source));
    const read = server.requests.filter(({ method, key }) => method === "GET" && key.includes("/c/"));
    expect(read.map(({ key }) => key)).toEqual(["x.zarr/2024/t2m/c/0/0"]);
  });

  test("a bucket: what is right follows from its listing, and nothing is written", async () => {
    const to = `s3://${BUCKET}/x.zarr`;
    await copy(FROM, to);
    const objects = new Map(server.objects);
    server.requests.length = 0;
    await copy(FROM, to, { ifExists: "update" });
    expect(server.requests.filter(({ method }) => !["GET", "HEAD"].includes(method))).toEqual([]);
    const read = server.requests.filter(({ method }) => method === "GET").map(({ key }) => key);
    expect(read.filter((key) => /\/c\/|txt|md/.test(key))).toEqual([]);
    await source.set("2024/t2m/c/0/0", new Uint8Array(12).fill(3));
    server.objects.set("x.zarr/2024/t2m/c/7/7", Buffer.from("stale"));
    server.requests.length = 0;
    await copy(FROM, to, { ifExists: "update" });
    expect(server.objects.get("x.zarr/2024/t2m/c/0/0")?.[0]).toBe(3);
    expect([...server.objects.keys()].sort()).toEqual([...objects.keys()].sort());
    const changes = server.requests
      .filter(({ method, key }) => !["GET", "HEAD"].includes(method) && !key.endsWith("lock"))
      .map(({ method, key }) => `${method} ${key}`);
    const [deleted, put] = ["DELETE x.zarr/2024/t2m/zarr.json", "PUT x.zarr/2024/t2m/c/0/0"];
    expect(changes.indexOf(deleted)).toBeLessThan(changes.indexOf(put));
    expect(changes.slice(-2)).toEqual(["PUT x.zarr/2024/t2m/zarr.json", "PUT x.zarr/zarr.json"]);
  });
});
