import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { StoreSpec } from "../../src/stores/store.ts";
import { assertTargetPlace, openTargetBuild } from "../../src/stores/target.ts";
import { openStore } from "../../src/stores/url.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
let names = 0;

function newSpec(kind: "directory" | "zip" | "memory"): StoreSpec {
  return kind === "memory" ? { kind, name: `target-${names++}` } : { kind, path: folder.next("x.zarr") };
}

const one = new Uint8Array([1]);
const two = new Uint8Array([2, 2]);

async function build(
  spec: StoreSpec,
  value: Uint8Array,
  ifExists: "error" | "replace" = "error",
): Promise<void> {
  const target = await openTargetBuild(spec, { ifExists });
  await target.store.set("a/0", value);
  await target.publish();
}

async function read(spec: StoreSpec): Promise<Uint8Array | undefined> {
  const store = await openStore(spec);
  try {
    return await store.get("a/0");
  } finally {
    await store.close?.();
  }
}

/** What lies beside a target of the file system. */
function beside(spec: StoreSpec): string[] {
  return "path" in spec && fs.existsSync(dirname(spec.path)) ? fs.readdirSync(dirname(spec.path)) : [];
}

describe.each(["directory", "zip", "memory"] as const)("a target build of a %s", (kind) => {
  const nothing = { code: "not-found" };
  const isAbsent = async (spec: StoreSpec) => {
    if (kind === "directory") expect(await read(spec)).toBeUndefined();
    else await expect(read(spec)).rejects.toMatchObject(nothing);
  };

  it("appears whole when it is published, and leaves nothing beside it", async () => {
    const spec = newSpec(kind);
    const target = await openTargetBuild(spec, { ifExists: "error" });
    await target.store.set("a/0", one);
    await isAbsent(spec);
    await target.publish();
    expect(await read(spec)).toEqual(one);
    if (kind !== "memory") expect(beside(spec)).toEqual(["x.zarr"]);
    await target.discard();
    expect(await read(spec)).toEqual(one);
  });

  it("leaves the place as it was when it is discarded, also the folders above", async () => {
    const spec = newSpec(kind);
    const target = await openTargetBuild(spec, { ifExists: "error" });
    await target.store.set("a/0", one);
    await target.discard();
    await target.discard();
    await isAbsent(spec);
    if ("path" in spec) expect(fs.existsSync(dirname(spec.path))).toBe(false);
  });

  it("can be read back before it is published", async () => {
    const spec = newSpec(kind);
    const target = await openTargetBuild(spec, { ifExists: "error" });
    await target.store.set("a/0", one);
    const store = await target.reopen();
    expect(await store.get("a/0")).toEqual(one);
    await store.close?.();
    await isAbsent(spec);
    await target.publish();
    expect(await read(spec)).toEqual(one);
  });

  it("refuses a target that exists, before anything is written", async () => {
    const spec = newSpec(kind);
    await assertTargetPlace(spec, { ifExists: "error" });
    await build(spec, one);
    const before = beside(spec);
    for (const begin of [openTargetBuild, assertTargetPlace]) {
      await expect(begin(spec, { ifExists: "error" })).rejects.toMatchObject({ code: "target-exists" });
    }
    await assertTargetPlace(spec, { ifExists: "replace" });
    expect(beside(spec)).toEqual(before);
    expect(await read(spec)).toEqual(one);
  });

  it("does not overwrite a target that came into being meanwhile", async () => {
    const spec = newSpec(kind);
    const late = await openTargetBuild(spec, { ifExists: "error" });
    await late.store.set("a/0", two);
    await build(spec, one);
    await expect(late.publish()).rejects.toMatchObject({ code: "target-exists" });
    await late.discard();
    expect(await read(spec)).toEqual(one);
    if (kind !== "memory") expect(beside(spec)).toEqual(["x.zarr"]);
  });

  it("replaces a target only when it is published", async () => {
    const spec = newSpec(kind);
    await build(spec, one);
    const target = await openTargetBuild(spec, { ifExists: "replace" });
    await target.store.set("a/0", two);
    expect(await read(spec)).toEqual(one);
    await target.publish();
    expect(await read(spec)).toEqual(two);
    if (kind !== "memory") expect(beside(spec)).toEqual(["x.zarr"]);
    const other = await openTargetBuild(spec, { ifExists: "replace" });
    await other.store.set("a/0", one);
    await other.discard();
    expect(await read(spec)).toEqual(two);
  });

  it("is not published on an aborted signal", async () => {
    const spec = newSpec(kind);
    const target = await openTargetBuild(spec, { ifExists: "error" });
    const reason = { why: "enough" };
    await expect(target.publish({ signal: AbortSignal.abort(reason) })).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
    });
    await isAbsent(spec);
    await target.discard();
  });
});

describe("a target build of the file system", () => {
  it("has a control folder beside the target for the run's own files", async () => {
    const spec = newSpec("directory") as { kind: "directory"; path: string };
    const target = await openTargetBuild(spec, { ifExists: "error" });
    expect(target.controlFolder).toMatch(/\/\.x\.zarr\.zarrflow-[0-9a-f]{12}(-[0-9a-z]+)?$/);
    fs.writeFileSync(join(target.controlFolder ?? "", "ledger.jsonl"), "{}\n");
    const other = await openStore(target.spec ?? spec, { exclusive: true });
    if (!("set" in other)) throw new Error("not writable");
    await (other as unknown as typeof target.store).set("a/0", one);
    await target.publish();
    expect(await read(spec)).toEqual(one);
    expect(beside(spec)).toEqual(["x.zarr"]);
  });

  it("takes an empty folder as its place", async () => {
    const spec = newSpec("directory") as { kind: "directory"; path: string };
    fs.mkdirSync(spec.path, { recursive: true });
    await build(spec, one);
    expect(await read(spec)).toEqual(one);
  });

  it("follows a symbolic link to the place", async () => {
    const spec = newSpec("directory") as { kind: "directory"; path: string };
    await build(spec, one);
    const link = join(dirname(spec.path), "link");
    fs.symlinkSync("x.zarr", link);
    await build({ kind: "directory", path: link }, two, "replace");
    expect(fs.readlinkSync(link)).toBe("x.zarr");
    expect(await read(spec)).toEqual(two);
  });

  it("replaces a zip by a directory and the other way round", async () => {
    const { path } = newSpec("zip") as { path: string };
    await build({ kind: "zip", path }, one);
    await build({ kind: "directory", path }, two, "replace");
    expect(await read({ kind: "directory", path })).toEqual(two);
    await build({ kind: "zip", path }, one, "replace");
    expect(await read({ kind: "zip", path })).toEqual(one);
  });

  it("refuses what can be no target", async () => {
    await expect(
      openTargetBuild({ kind: "directory", path: "/" }, { ifExists: "replace" }),
    ).rejects.toMatchObject({
      code: "invalid-option",
    });
    await expect(
      openTargetBuild({ kind: "object", description: "mine" }, { ifExists: "error" }),
    ).rejects.toMatchObject({ code: "invalid-option" });
    const file = folder.next("file");
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, "");
    await expect(
      openTargetBuild({ kind: "directory", path: join(file, "x.zarr") }, { ifExists: "error" }),
    ).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("puts the old target back when the new one cannot be moved", async () => {
    const spec = newSpec("directory") as { kind: "directory"; path: string };
    await build(spec, one);
    const target = await openTargetBuild(spec, { ifExists: "replace" });
    fs.rmSync(join(target.controlFolder ?? "", "build"), { recursive: true });
    await expect(target.publish()).rejects.toMatchObject({ name: "ZarrflowError" });
    expect(await read(spec)).toEqual(one);
    await target.discard();
    expect(beside(spec)).toEqual(["x.zarr"]);
  });
});

describe("a replacement that was cut", () => {
  /** Lays out a place as a run leaves it that is killed at some moment. */
  function cut(parts: Readonly<Record<string, Uint8Array>>): { kind: "directory"; path: string } {
    const spec = newSpec("directory") as { kind: "directory"; path: string };
    const ownerFile = join(dirname(spec.path), ".x.zarr.zarrflow-0123456789ab/owner.json");
    fs.mkdirSync(dirname(ownerFile), { recursive: true });
    fs.writeFileSync(ownerFile, JSON.stringify({ format: "zarrflow-run/1", run: "killed" }));
    for (const [name, value] of Object.entries(parts)) {
      const control = join(dirname(spec.path), ".x.zarr.zarrflow-0123456789ab");
      const file = join(name === "target" ? spec.path : join(control, name), "a/0");
      fs.mkdirSync(dirname(file), { recursive: true });
      fs.writeFileSync(file, value);
    }
    return spec;
  }
  const start = (spec: StoreSpec) =>
    expect(openTargetBuild(spec, { ifExists: "error" })).rejects.toMatchObject({ code: "target-exists" });

  it("between its two renames is ended at the next start", async () => {
    const spec = cut({ old: one, build: two });
    await start(spec);
    expect(await read(spec)).toEqual(two);
    expect(beside(spec)).toEqual(["x.zarr"]);
  });

  it("whose build was lost is undone", async () => {
    const spec = cut({ old: one });
    await start(spec);
    expect(await read(spec)).toEqual(one);
    expect(beside(spec)).toEqual(["x.zarr"]);
  });

  it("after its second rename, or while the old target is being removed, is tidied up", async () => {
    for (const spec of [cut({ old: one, target: two }), cut({ trash: one, target: two })]) {
      await start(spec);
      expect(await read(spec)).toEqual(two);
      expect(beside(spec)).toEqual(["x.zarr"]);
    }
  });

  it("never comes back from what is being removed", async () => {
    const spec = cut({ trash: one });
    const target = await openTargetBuild(spec, { ifExists: "error" });
    expect(await read(spec)).toBeUndefined();
    await target.discard();
    expect(beside(spec)).toEqual([]);
  });

  it("before its first rename is left alone: another run may be building", async () => {
    const spec = cut({ build: two, target: one });
    await start(spec);
    expect(await read(spec)).toEqual(one);
    expect(beside(spec)).toEqual([".x.zarr.zarrflow-0123456789ab", "x.zarr"]);
  });
});

describe("names in memory", () => {
  it("are taken at publish", async () => {
    const target = await openTargetBuild({ kind: "memory", name: "target-test" }, { ifExists: "error" });
    expect(namedMemoryStore("target-test")).toBeUndefined();
    await target.publish();
    expect(namedMemoryStore("target-test")).toBe(target.store);
    nameMemoryStore("target-test", undefined);
  });
});
