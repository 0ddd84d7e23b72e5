import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { processTag } from "../../src/stores/files/process-record.node.ts";
import { namedMemoryStore } from "../../src/stores/memory.ts";
import { controlName } from "../../src/stores/reserved-names.ts";
import type { StoreSpec } from "../../src/stores/store.ts";
import { openStore } from "../../src/stores/url.ts";
import { assertTargetPlace, openTargetBuild } from "../../src/targets/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { deadProcess } from "../support/dead-process.ts";
import { makeUnheard } from "../support/unheard-run.ts";

type FolderSpec = { readonly kind: "directory"; readonly path: string };

const folder = temporaryFolder();
let names = 0;

function newSpec(kind: "directory" | "zip" | "memory"): StoreSpec {
  return kind === "memory" ? { kind, name: `target-${names++}` } : { kind, path: folder.next("x.zarr") };
}

const one = new Uint8Array([1]);
const two = new Uint8Array([2, 2]);
const EXISTS = { code: "target-exists" };

/** A build with a value, that is not published yet. */
async function begin(spec: StoreSpec, value: Uint8Array, ifExists: "error" | "replace" = "error") {
  const target = await openTargetBuild(spec, { ifExists });
  await target.store.set("a/0", value);
  return target;
}

async function build(...of: Parameters<typeof begin>): Promise<void> {
  await (await begin(...of)).publish();
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
  const alone = kind === "memory" ? [] : ["x.zarr"];
  let spec: StoreSpec;
  beforeEach(() => {
    spec = newSpec(kind);
  });
  const expectAbsent = async () => {
    if (kind === "directory") expect(await read(spec)).toBeUndefined();
    else await expect(read(spec)).rejects.toMatchObject({ code: "not-found" });
  };

  it("appears whole when it is published, read back before or not, and leaves nothing beside it", async () => {
    const target = await begin(spec, one);
    const store = await target.reopen();
    expect(await store.get("a/0")).toEqual(one);
    await store.close?.();
    await expectAbsent();
    await target.publish();
    expect(await read(spec)).toEqual(one);
    expect(beside(spec)).toEqual(alone);
    if (spec.kind === "memory") expect(namedMemoryStore(spec.name)).toBe(target.store);
    await target.discard();
    expect(await read(spec)).toEqual(one);
  });

  it("leaves the place as it was when it is discarded, also the folders above", async () => {
    const target = await begin(spec, one);
    await target.discard();
    await target.discard();
    await expectAbsent();
    if ("path" in spec) expect(fs.existsSync(dirname(spec.path))).toBe(false);
  });

  it("refuses a target that exists, before anything is written, and one that came meanwhile", async () => {
    await assertTargetPlace(spec, { ifExists: "error" });
    const late = await begin(spec, two);
    await build(spec, one);
    const before = beside(spec);
    for (const begin of [openTargetBuild, assertTargetPlace])
      await expect(begin(spec, { ifExists: "error" })).rejects.toMatchObject(EXISTS);
    await assertTargetPlace(spec, { ifExists: "replace" });
    expect(beside(spec)).toEqual(before);
    await expect(late.publish()).rejects.toMatchObject(EXISTS);
    await late.discard();
    expect(await read(spec)).toEqual(one);
    expect(beside(spec)).toEqual(alone);
  });

  it("replaces a target only when it is published", async () => {
    await build(spec, one);
    const target = await begin(spec, two, "replace");
    expect(await read(spec)).toEqual(one);
    await target.publish();
    expect(await read(spec)).toEqual(two);
    expect(beside(spec)).toEqual(alone);
    await (await begin(spec, one, "replace")).discard();
    expect(await read(spec)).toEqual(two);
  });

  it("is not published on an aborted signal", async () => {
    const target = await openTargetBuild(spec, { ifExists: "error" });
    const reason = { why: "enough" };
    const publishing = target.publish({ signal: AbortSignal.abort(reason) });
    await expect(publishing).rejects.toMatchObject({ code: "aborted", cause: reason });
    await expectAbsent();
    await target.discard();
  });
});

describe("a target build of the file system", () => {
  const newFolder = () => newSpec("directory") as FolderSpec;

  it("has a control folder beside the target for the run's own files", async () => {
    const spec = newFolder();
    const target = await openTargetBuild(spec, { ifExists: "error" });
    expect(target.controlFolder).toMatch(/\/\.x\.zarr\.zarrflow-[0-9a-f]{12}(-[0-9a-z]+)?$/);
    fs.writeFileSync(join(target.controlFolder ?? "", "ledger.jsonl"), "{}\n");
    const other = await openStore(target.spec ?? spec, { exclusive: true });
    await (other as unknown as typeof target.store).set("a/0", one);
    await target.publish();
    expect(await read(spec)).toEqual(one);
    expect(beside(spec)).toEqual(["x.zarr"]);
  });

  it("takes an empty folder as its place, and one that a symbolic link leads to", async () => {
    const spec = newFolder();
    fs.mkdirSync(spec.path, { recursive: true });
    await build(spec, one);
    expect(await read(spec)).toEqual(one);
    const link = join(dirname(spec.path), "link");
    fs.symlinkSync("x.zarr", link);
    await build({ kind: "directory", path: link }, two, "replace");
    expect(fs.readlinkSync(link)).toBe("x.zarr");
    expect(await read(spec)).toEqual(two);
  });

  it("replaces a zip by a directory and the other way round", async () => {
    const { path } = newFolder();
    for (const [kind, value] of [
      ["zip", one],
      ["directory", two],
      ["zip", one],
    ] as const) {
      await build({ kind, path }, value, "replace");
      expect(await read({ kind, path })).toEqual(value);
    }
  });

  it("refuses what can be no target", async () => {
    const file = folder.next("file");
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, "");
    for (const [spec, code] of [
      [{ kind: "directory", path: "/" }, "invalid-option"],
      [{ kind: "object", description: "mine" }, "invalid-option"],
      [{ kind: "directory", path: join(file, "x.zarr") }, "path-not-allowed"],
    ] as const)
      await expect(openTargetBuild(spec, { ifExists: "replace" })).rejects.toMatchObject({ code });
  });

  it("puts the old target back when the new one cannot be moved", async () => {
    const spec = newFolder();
    await build(spec, one);
    const target = await openTargetBuild(spec, { ifExists: "replace" });
    fs.rmSync(join(target.controlFolder ?? "", "build"), { recursive: true });
    await expect(target.publish()).rejects.toMatchObject({ name: "ZarrflowError" });
    expect(await read(spec)).toEqual(one);
    await target.discard();
    expect(beside(spec)).toEqual(["x.zarr"]);
  });

  it("reports what it could not remove once the target is published, which stands", async () => {
    const spec = newFolder();
    await build(spec, one);
    const second = await begin(spec, two, "replace");
    const control = second.controlFolder ?? "";
    fs.mkdirSync(join(control, "trash/in the way"), { recursive: true }); // the old target cannot be moved there
    const warnings: string[] = [];
    await second.publish({ onWarning: ({ message }) => warnings.push(message) });
    expect(await second.store.size("a/0")).toBeUndefined();
    expect(await read(spec)).toEqual(two);
    expect(warnings).toEqual([expect.stringContaining(control)]);
    await second.discard();
    expect(await read(spec)).toEqual(two);
  });

  it("has names that file systems take, however long that of the target is", async () => {
    const spec = { kind: "directory", path: folder.next(`${"x".repeat(225)}.zarr`) } as const;
    await build(spec, one);
    expect(await read(spec)).toEqual(one);
  });
});

describe("a replacement that was cut", () => {
  const CONTROL = ".x.zarr.zarrflow-0123456789ab";
  /** Lays out a place as a run leaves it that is killed at some moment. */
  function cut(parts: Readonly<Record<string, Uint8Array>>): StoreSpec {
    const spec = newSpec("directory") as FolderSpec;
    const control = join(dirname(spec.path), CONTROL);
    const owner = Buffer.from(JSON.stringify({ format: "zarrflow-run/1", run: "killed" }));
    const files: [string, Uint8Array][] = [[join(control, "owner.json"), owner]];
    for (const [name, value] of Object.entries(parts))
      files.push([join(name === "target" ? spec.path : join(control, name), "a/0"), value]);
    for (const [file, value] of files) {
      fs.mkdirSync(dirname(file), { recursive: true });
      fs.writeFileSync(file, value);
    }
    return spec;
  }

  it.each([
    ["between its two renames is ended", { old: one, build: two }, two, []],
    ["whose build was lost is undone", { old: one }, one, []],
    ["after its second rename is tidied up", { old: one, target: two }, two, []],
    ["while the old target is removed is tidied up", { trash: one, target: two }, two, []],
    [
      "before its first rename is left alone: another run may build",
      { build: two, target: one },
      one,
      [CONTROL],
    ],
  ])("%s at the next start", async (_, parts, found, left) => {
    const spec = cut(parts);
    await expect(openTargetBuild(spec, { ifExists: "error" })).rejects.toMatchObject(EXISTS);
    expect(await read(spec)).toEqual(found);
    expect(beside(spec)).toEqual([...left, "x.zarr"]);
  });

  it("never comes back from what is being removed", async () => {
    const spec = cut({ trash: one });
    const target = await openTargetBuild(spec, { ifExists: "error" });
    expect(await read(spec)).toBeUndefined();
    await target.discard();
    expect(beside(spec)).toEqual([]);
  });
});

describe("a control folder that a run has left", () => {
  const OLD = new Date(Date.now() - 60 * 60_000);
  let spec: FolderSpec;
  let parent: string;
  beforeEach(() => {
    spec = newSpec("directory") as FolderSpec;
    parent = dirname(spec.path);
    fs.mkdirSync(parent, { recursive: true });
  });
  const open = async () => {
    const target = await openTargetBuild(spec, { ifExists: "replace" });
    return { target, control: target.controlFolder ?? "" };
  };
  /** What is left once another run has come and gone. */
  const rest = async () => {
    await (await open()).target.discard();
    return fs.readdirSync(parent).sort();
  };

  it("is no link that was planted, and no folder without its owner's record", async () => {
    const [victim, unsigned] = [join(parent, "victim"), join(parent, ".x.zarr.zarrflow-0123456789ac/trash")];
    for (const name of [victim, join(victim, "old"), unsigned]) {
      fs.mkdirSync(name, { recursive: true });
      fs.writeFileSync(join(name, "mine"), "mine");
    }
    fs.symlinkSync("victim", join(parent, ".x.zarr.zarrflow-0123456789ab"));
    await build(spec, one, "replace");
    for (const name of [victim, join(victim, "old"), unsigned])
      expect(fs.readFileSync(join(name, "mine"), "utf8")).toBe("mine");
  });

  it("goes when it was not heard of for long, and never publishes; what another builds stays", async () => {
    const [dead, live] = [await open(), await open()];
    await dead.target.store.set("a/0", new Uint8Array(100));
    await makeUnheard(dead.control);
    const next = await open();
    const names = [live, next].map(({ control }) => basename(control));
    expect(fs.readdirSync(parent).sort()).toEqual(names.sort());
    await dead.target.store.set("a/1", new Uint8Array(100)); // makes its folder again
    await expect(dead.target.publish()).rejects.toMatchObject({ code: "locked" });
    expect(fs.existsSync(spec.path)).toBe(false);
    for (const { target } of [dead, live, next]) await target.discard();
    expect(fs.readdirSync(parent)).toEqual([]);
  });

  it("is another run's once that run has taken it over: the first neither publishes nor removes it", async () => {
    const { target } = await open();
    target.journal?.append("line");
    await target.journal?.flush();
    const resume = async () => ({ readBack: false });
    const next = await openTargetBuild(spec, { ifExists: "error", breakLock: true, resume });
    await next.store.set("a/0", one);
    await expect(target.publish()).rejects.toMatchObject({ code: "locked" });
    await target.discard();
    await next.publish();
    expect(await read(spec)).toEqual(one);
  });

  it("stays while its process runs, however long ago it was heard of, and goes when another has its number", async () => {
    const [suspended, dead] = [await open(), await open()];
    fs.utimesSync(join(suspended.control, "owner.json"), OLD, OLD);
    const owner = join(dead.control, "owner.json");
    const record = JSON.parse(fs.readFileSync(owner, "utf8"));
    fs.writeFileSync(owner, JSON.stringify({ ...record, started: "1" }));
    expect(await rest()).toEqual([basename(suspended.control)]);
    await suspended.target.publish();
    expect(fs.existsSync(spec.path)).toBe(true);
  });

  describe("not signed yet, or emptied", () => {
    const cut = (tag: string, record?: string) => {
      const left = join(parent, controlName("x.zarr", tag));
      fs.mkdirSync(left);
      if (record !== undefined) fs.writeFileSync(join(left, "owner.json"), record);
      return left;
    };

    it.skipIf(process.platform !== "linux").each([undefined, "", '{"format":'])(
      "goes at once where its process is over (record: %s)",
      async (record) => {
        cut((await deadProcess()).tag, record);
        expect(await rest()).toEqual([]);
      },
    );

    it("stays while its process runs", async () => {
      const left = cut(processTag());
      fs.utimesSync(left, OLD, OLD);
      expect(await rest()).toEqual(process.platform === "linux" ? [basename(left)] : []);
    });

    it("goes after a while where nobody knows its process", async () => {
      const left = cut("");
      expect(await rest()).toEqual([basename(left)]);
      fs.utimesSync(left, OLD, OLD);
      expect(await rest()).toEqual([]);
    });
  });
});
