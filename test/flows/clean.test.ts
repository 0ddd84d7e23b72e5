// @module-tag slow
import { existsSync } from "node:fs";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { clean, copy, deleteNode, validate } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { openTargetBuild } from "../../src/stores/target.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all } from "../support/consume.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { withBucket } from "../support/s3-environment.ts";
import { makeUnheard } from "../support/unheard-run.ts";

const folder = temporaryFolder();
const OLD = new Date(Date.now() - 60 * 60_000);

const cleaned = async (...args: Parameters<typeof clean>) =>
  (await all(clean(...args))).map(({ kind, isRemoved }) => `${kind} ${isRemoved}`).sort();

async function warnings(url: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { level, what, message } of validate(url)) {
    if (level === "warning" && ["leftover", "lock", "open-upload"].includes(what)) found.push(message);
  }
  return found;
}

test("what killed runs have left in and beside a folder is found and removed, what live ones have is not", async () => {
  const path = folder.next("x.zarr");
  const parent = dirname(path);
  await mkdir(parent, { recursive: true });
  await copy(await makeHierarchy("v2"), path);
  const spec = { kind: "directory", path } as const;
  const [dead, live] = [
    await openTargetBuild(spec, { ifExists: "replace" }),
    await openTargetBuild(spec, { ifExists: "replace" }),
  ];
  await makeUnheard(dead.controlFolder);
  const files = [join(path, ".zarrflow-0123456789ab-1"), join(path, "2023/t2m/.zarrflow-0123456789ab-2")];
  for (const file of files) await writeFile(file, "half");
  for (const file of [...files.slice(1), join(path, ".zarrflow-lock")]) {
    if (file.endsWith("lock")) await writeFile(file, "{}");
    await utimes(file, OLD, OLD);
  }
  const all = ["build false", "build true", "file false", "file true", "lock true"];
  const before = await readdir(parent, { recursive: true });
  expect(await cleaned(path, { dryRun: true })).toEqual(all);
  expect(await readdir(parent, { recursive: true })).toEqual(before);
  expect(await warnings(path)).toHaveLength(5);
  expect(await cleaned(path)).toEqual(all);
  expect(existsSync(dead.controlFolder ?? "")).toBe(false);
  expect(await cleaned(path, { breakLock: true })).toEqual(["build true", "file true"]);
  expect(await cleaned(path)).toEqual([]);
  expect(await warnings(path)).toEqual([]);
  await live.discard();
});

test("where no target is yet, what was being built is reported", async () => {
  const path = folder.next("x.zarr");
  const build = await openTargetBuild({ kind: "directory", path }, { ifExists: "error" });
  expect(await warnings(path)).toEqual([expect.stringContaining(build.controlFolder ?? "?")]);
  await build.discard();
  await expect(warnings(path)).rejects.toMatchObject({ code: "not-found" });
});

test("a half target, its lock, uploads and scratch objects in a bucket are removed", async () => {
  await withBucket(async (server, bucket) => {
    const old = JSON.stringify({ owner: crypto.randomUUID(), begun: OLD, renewed: OLD });
    const scratch = "place/x.zarr/zarrflow-scratch-0123456789ab";
    server.objects.set("place/x.zarr/a/c/0", Buffer.alloc(4));
    server.objects.set("place/x.zarr/.zarrflow-lock", Buffer.from(old));
    server.objects.set(`${scratch}/0/1`, Buffer.alloc(4));
    server.objects.set(`${scratch}/.zarrflow-lock`, Buffer.from(old));
    server.objects.set("place/mine", Buffer.alloc(4));
    const url = `s3://${bucket}/place/x.zarr`;
    expect(await warnings(url)).toEqual([
      expect.stringContaining("half-target"),
      expect.stringContaining("scratch"),
    ]);
    expect(await cleaned(url)).toEqual(["half-target true", "scratch true"]);
    expect([...server.objects.keys()]).toEqual(["place/mine"]);
  });
});

test("objects whose prefix only begins like that of scratch objects stay", async () => {
  await withBucket(async (server, bucket) => {
    server.objects.set("place/zarr.json", Buffer.from('{"zarr_format": 3, "node_type": "group"}'));
    server.objects.set("place/zarrflow-scratch-experiments/a", Buffer.alloc(4));
    expect(await cleaned(`s3://${bucket}/place`)).toEqual([]);
    expect(server.objects.size).toBe(2);
  });
});

test("an upload that was not ended is given up", async () => {
  await withBucket(async (server, bucket) => {
    const { openStore } = await import("../../src/stores/url.ts");
    const { isWritable } = await import("../../src/stores/store.ts");
    const store = await openStore({ kind: "s3", bucket, prefix: "x.zarr" });
    if (!isWritable(store)) throw new Error("it cannot be written");
    const writer = await store.openWriter("c/0");
    await writer.write(new Uint8Array(9 * 2 ** 20));
    expect(server.uploads.size).toBe(1);
    // the test server says that it was begun long ago
    expect(await cleaned(`s3://${bucket}/x.zarr`)).toEqual(["upload true"]);
    expect(server.uploads.size).toBe(0);
  });
});

test.each(["v2", "v3"] as const)(
  "validate with fix writes consolidated metadata of %s that are not true",
  async (zarrFormat) => {
    const path = folder.next("x.zarr");
    await mkdir(dirname(path), { recursive: true });
    await copy(await makeHierarchy(zarrFormat, { consolidated: true }), path);
    const store = new DirectoryStore(path);
    const key = zarrFormat === "v2" ? ".zmetadata" : "zarr.json";
    const stale = await store.get(key);
    await deleteNode(`${path}/time`);
    await store.set(key, stale ?? new Uint8Array());
    const found = async (options: Parameters<typeof validate>[1]) => {
      const levels: string[] = [];
      for await (const { what, level } of validate(path, options))
        if (what === "stale-consolidated") levels.push(level);
      return levels;
    };
    expect(await found({})).toEqual(["error"]);
    expect(await found({ fix: true, dryRun: true })).toEqual(["info", "error"]);
    expect(await store.get(key)).toEqual(stale);
    expect(await found({ fix: true })).toEqual(["info"]);
    expect(await found({})).toEqual([]);
    await expectTrueConsolidation(store);
  },
);

test.each(["http://127.0.0.1:9/x.zarr", "http://127.0.0.1:9/x.zarr.zip?token=a"])(
  "a web server, which lists nothing, is refused: %s",
  async (url) => {
    await expect(cleaned(url)).rejects.toMatchObject({
      code: "unsupported-operation",
      reason: "a web server is read-only, and lists no leftovers",
    });
  },
);
