// @module-tag slow
import { existsSync } from "node:fs";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { clean, copy, deleteNode, validate } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { isWritable } from "../../src/stores/store.ts";
import { openStore } from "../../src/stores/url.ts";
import { openTargetBuild } from "../../src/targets/index.ts";
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
  const found = (await all(validate(url))).filter(({ level }) => level === "warning");
  return found
    .filter(({ what }) => ["leftover", "lock", "open-upload"].includes(what))
    .map(({ message }) => message);
}

test("what killed runs have left in and beside a folder is found and removed, what live ones have is not", async () => {
  const path = folder.next("x.zarr");
  const parent = dirname(path);
  await mkdir(parent, { recursive: true });
  await copy(await makeHierarchy("v2"), path);
  const build = () => openTargetBuild({ kind: "directory", path }, { ifExists: "replace" });
  const [dead, live] = [await build(), await build()];
  await makeUnheard(dead.controlFolder);
  const [young = "", ...old] = [".zarrflow-0123456789ab-1", "2023/t2m/.zarrflow-0123456789ab-2"];
  await writeFile(join(path, young), "half");
  for (const name of [...old, ".zarrflow-lock"]) {
    await writeFile(join(path, name), "{}");
    await utimes(join(path, name), OLD, OLD);
  }
  const left = ["build false", "build true", "file false", "file true", "lock true"];
  const before = await readdir(parent, { recursive: true });
  expect(await cleaned(path, { dryRun: true })).toEqual(left);
  expect(await readdir(parent, { recursive: true })).toEqual(before);
  expect(await warnings(path)).toHaveLength(5);
  expect(await cleaned(path)).toEqual(left);
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

test("a half target, its lock, uploads and scratch objects in a bucket are removed, and nothing else", async () => {
  await withBucket(async (server, bucket) => {
    const old = JSON.stringify({ owner: crypto.randomUUID(), begun: OLD, renewed: OLD });
    const scratch = "place/x.zarr/zarrflow-scratch-0123456789ab";
    for (const place of ["place/x.zarr", scratch]) {
      server.objects.set(`${place}/a/c/0`, Buffer.alloc(4));
      server.objects.set(`${place}/.zarrflow-lock`, Buffer.from(old));
    }
    const group = Buffer.from('{"zarr_format": 3, "node_type": "group"}');
    server.objects.set("place/zarr.json", group);
    server.objects.set("place/zarrflow-scratch-experiments/a", Buffer.alloc(4));
    const url = `s3://${bucket}/place/x.zarr`;
    const named = ["half-target", "scratch"].map((word) => expect.stringContaining(word));
    expect(await warnings(url)).toEqual(named);
    expect(await cleaned(url)).toEqual(["half-target true", "scratch true"]);
    expect(await cleaned(`s3://${bucket}/place`)).toEqual([]);
    expect([...server.objects.keys()]).toEqual(["place/zarr.json", "place/zarrflow-scratch-experiments/a"]);
    const store = await openStore({ kind: "s3", bucket, prefix: "x.zarr" });
    if (!isWritable(store)) throw new Error("it cannot be written");
    await (await store.openWriter("c/0")).write(new Uint8Array(9 * 2 ** 20));
    expect(server.uploads.size).toBe(1);
    // the test server says that it was begun long ago
    expect(await cleaned(`s3://${bucket}/x.zarr`)).toEqual(["upload true"]);
    expect(server.uploads.size).toBe(0);
  });
});

test.each([
  ["v2", ".zmetadata"],
  ["v3", "zarr.json"],
] as const)(
  "validate with fix writes consolidated metadata of %s that are not true",
  async (zarrFormat, key) => {
    const path = folder.next("x.zarr");
    await copy(await makeHierarchy(zarrFormat, { consolidated: true }), path);
    const store = new DirectoryStore(path);
    const stale = (await store.get(key)) ?? new Uint8Array();
    await deleteNode(`${path}/time`);
    await store.set(key, stale);
    const found = async (options: Parameters<typeof validate>[1]) => {
      const findings = await all(validate(path, options));
      return findings.filter(({ what }) => what === "stale-consolidated").map(({ level }) => level);
    };
    expect(await found({})).toEqual(["error"]);
    expect(await found({ fix: true, dryRun: true })).toEqual(["info", "error"]);
    expect(await store.get(key)).toEqual(stale);
    expect(await found({ fix: true })).toEqual(["info"]);
    expect(await found({})).toEqual([]);
    await expectTrueConsolidation(store);
  },
);

test("a web server, which lists nothing, is refused", async () => {
  for (const url of ["http://127.0.0.1:9/x.zarr", "http://127.0.0.1:9/x.zarr.zip?token=a"])
    await expect(cleaned(url)).rejects.toMatchObject({
      code: "unsupported-operation",
      reason: "a web server is read-only and cannot list leftovers",
    });
});
