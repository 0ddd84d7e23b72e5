import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { controlName } from "../../../src/stores/reserved-names.ts";
import { processTag } from "../../../src/stores/target/process-record.node.ts";
import { openTargetBuild } from "../../../src/stores/target.ts";
import { deadProcess } from "../../support/dead-process.ts";
import { makeUnheard } from "../../support/unheard-run.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();
const OLD = new Date(Date.now() - 60 * 60_000);

async function place(): Promise<{ readonly path: string; readonly parent: string }> {
  const path = folder.next("out.zarr");
  await mkdir(dirname(path), { recursive: true });
  return { path, parent: dirname(path) };
}

const build = (path: string) => openTargetBuild({ kind: "directory", path }, { ifExists: "replace" });

it("touches nothing that a planted link leads to, and no folder without its owner's record", async () => {
  const { path, parent } = await place();
  for (const name of ["victim", "victim/old", ".out.zarr.zarrflow-0123456789ac/trash"]) {
    await mkdir(join(parent, name), { recursive: true });
    await writeFile(join(parent, name, "mine"), "mine");
  }
  await symlink("victim", join(parent, ".out.zarr.zarrflow-0123456789ab"));
  const target = await build(path);
  await target.store.set(".zgroup", new TextEncoder().encode('{"zarr_format": 2}'));
  await target.publish();
  expect(await readFile(join(parent, "victim/mine"), "utf8")).toBe("mine");
  expect(await readFile(join(parent, "victim/old/mine"), "utf8")).toBe("mine");
  expect(existsSync(join(parent, ".out.zarr.zarrflow-0123456789ac/trash/mine"))).toBe(true);
});

it("removes what a run has left that has not been heard of for long, and leaves what another builds", async () => {
  const { path, parent } = await place();
  const [dead, live] = [await build(path), await build(path)];
  await dead.store.set("a/0", new Uint8Array(100));
  await makeUnheard(dead.controlFolder);
  const next = await build(path);
  const names = [live, next].map(({ controlFolder = "" }) => controlFolder.slice(parent.length + 1));
  expect((await readdir(parent)).sort()).toEqual(names.sort());
  await dead.store.set("a/1", new Uint8Array(100)); // makes its folder again
  await expect(dead.publish()).rejects.toMatchObject({ code: "locked" });
  expect(existsSync(path)).toBe(false);
  for (const other of [live, next]) await other.discard();
});

it("leaves the folder of a process that runs, however long ago it was heard of", async () => {
  const { path } = await place();
  const suspended = await build(path);
  await utimes(join(suspended.controlFolder ?? "", "owner.json"), OLD, OLD);
  const next = await build(path);
  expect(existsSync(suspended.controlFolder ?? "")).toBe(true);
  await next.discard();
  await suspended.publish();
  expect(existsSync(path)).toBe(true);
});

it("removes the folder of a process whose number another one has got", async () => {
  const { path } = await place();
  const dead = await build(path);
  const owner = join(dead.controlFolder ?? "", "owner.json");
  const record = JSON.parse(await readFile(owner, "utf8"));
  await writeFile(owner, JSON.stringify({ ...record, started: "1" }));
  await (await build(path)).discard();
  expect(existsSync(dead.controlFolder ?? "")).toBe(false);
});

it("reports what it could not remove once the target is published, which stands", async () => {
  const { path } = await place();
  const first = await build(path);
  await first.store.set("a", new Uint8Array(1));
  await first.publish();
  const second = await build(path);
  await second.store.set("a", new Uint8Array(2));
  const trash = join(second.controlFolder ?? "", "trash");
  await mkdir(join(trash, "in the way"), { recursive: true }); // the old target cannot be moved there
  const warnings: string[] = [];
  await second.publish({ onWarning: ({ message }) => warnings.push(message) });
  expect(await second.store.size("a")).toBeUndefined();
  expect((await readFile(join(path, "a"))).length).toBe(2);
  expect(warnings).toEqual([expect.stringContaining(second.controlFolder ?? "?")]);
  await second.discard();
  expect(existsSync(path)).toBe(true);
});

describe("a folder that a run had not signed yet, or had emptied, when it was killed", () => {
  const cut = async (parent: string, tag: string, record?: string) => {
    const left = join(parent, controlName("out.zarr", tag));
    await mkdir(left);
    if (record !== undefined) await writeFile(join(left, "owner.json"), record);
    return left;
  };
  const rest = async (left: string) => {
    await (await build(join(dirname(left), "out.zarr"))).discard();
    return readdir(dirname(left));
  };

  it.skipIf(process.platform !== "linux").each([undefined, "", '{"format":'])(
    "is removed at once where its process is over (record: %s)",
    async (record) => {
      const { parent } = await place();
      const { tag } = await deadProcess();
      expect(await rest(await cut(parent, tag, record))).toEqual([]);
    },
  );

  it("stays while its process runs", async () => {
    const { parent } = await place();
    const left = await cut(parent, processTag());
    await utimes(left, OLD, OLD);
    expect(await rest(left)).toEqual(process.platform === "linux" ? [basename(left)] : []);
  });

  it("goes after a while where nobody knows its process", async () => {
    const { parent } = await place();
    const left = await cut(parent, "");
    expect(await rest(left)).toEqual([basename(left)]);
    await utimes(left, OLD, OLD);
    expect(await rest(left)).toEqual([]);
  });
});

it("has a name that file systems take, however long that of the target is", async () => {
  const { parent } = await place();
  const path = join(parent, `${"x".repeat(225)}.zarr`);
  const target = await build(path);
  await target.store.set("a", new Uint8Array(1));
  await target.publish();
  expect(existsSync(path)).toBe(true);
});
