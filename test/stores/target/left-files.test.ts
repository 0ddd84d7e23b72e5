// @module-tag slow
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { clean } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { isOwnName, temporaryName } from "../../../src/stores/reserved-names.ts";
import { PrefixLock } from "../../../src/stores/target/prefix-lock.ts";
import { processTag } from "../../../src/stores/target/process-record.node.ts";
import { testFolder } from "../../support/cli.ts";
import { deadProcess } from "../../support/dead-process.ts";
import { withoutPauses } from "../../support/no-pauses.ts";

withoutPauses();

const other = ".zarrflow-0123456789ab-1x1x0123456789abx1";
const untold = ".zarrflow-0123456789ab-1";

/** A folder with what a dead process, this one, one of another machine, and one that did not say were writing. */
async function leftIn(tag: string) {
  const root = join(await testFolder(), "g.zarr");
  await mkdir(join(root, "t/c/0"), { recursive: true });
  const live = temporaryName(processTag());
  for (const name of [temporaryName(tag), live, other, untold, "x"])
    for (const folder of ["", "t/c/0"]) await writeFile(join(root, folder, name), "");
  const left = async () =>
    (await readdir(root, { recursive: true })).filter((path) =>
      isOwnName(path.slice(path.lastIndexOf("/") + 1)),
    );
  return { root, left, stay: [live, other, untold].flatMap((name) => [name, `t/c/0/${name}`]).sort() };
}

it.skipIf(process.platform !== "linux")(
  "the run that takes over the lock of a dead process removes what that was writing, at its end, and nothing else",
  async () => {
    const { record, tag } = await deadProcess();
    const { root, left, stay } = await leftIn(tag);
    const store = new DirectoryStore(root);
    const begun = new Date().toISOString();
    await store.set(
      ".zarrflow-lock",
      Buffer.from(JSON.stringify({ owner: "x", ...record, begun, renewed: begun })),
    );
    const lock = await PrefixLock.take(store);
    expect((await left()).length).toBe(8);
    await lock?.release();
    expect((await left()).sort()).toEqual(stay);
    expect((await readdir(root)).sort()).toContain("x");
  },
);

it.skipIf(process.platform !== "linux")("a run that takes over nothing looks for nothing", async () => {
  const { tag } = await deadProcess();
  const { root, left } = await leftIn(tag);
  await (await PrefixLock.take(new DirectoryStore(root)))?.release();
  expect((await left()).length).toBe(8);
});

it.skipIf(process.platform !== "linux")("clean removes what a dead process was writing at once", async () => {
  const { tag } = await deadProcess();
  const { root, left, stay } = await leftIn(tag);
  for await (const { isRemoved, place } of clean(root)) expect(isRemoved, place).toBe(place.includes(tag));
  expect((await left()).sort()).toEqual(stay);
});
