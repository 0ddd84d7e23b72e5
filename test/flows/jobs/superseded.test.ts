// @module-tag slow

import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parsePlan } from "../../../src/flows/jobs/parse-plan.ts";
import { finishPlan, runShare } from "../../../src/flows/jobs/run-share.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import type { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { openTargetBuild } from "../../../src/targets/index.ts";
import { openJointInPlace } from "../../../src/targets/joint/value-build.ts";
import type { JointRun } from "../../../src/targets/options.ts";
import { assertNoneInside, encodedLock, newLockRecord } from "../../../src/targets/store-lock.ts";
import { filesOf } from "../../interop/trees.ts";
import { testFolder } from "../../support/cli.ts";
import { keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { ENCODERS, textOf } from "./support.ts";

test("a process that is too slow changes nothing of a folder that was published without it", async () => {
  const folder = await testFolder();
  const target = join(folder, "out.zarr");
  const share = { stage: 0, index: 0, count: 1 };
  const open = (one: JointRun["share"]) =>
    openTargetBuild({ kind: "directory", path: target }, { ifExists: "error", joint: jointRun(one) });
  const slow = await open(share);
  const other = await open(share);
  const key = "t2m/c/0/0";
  await slow.store.set(key, bytesOf("right"));
  await other.store.set(key, bytesOf("right"));
  // a value that it has begun, and does not end in time
  const writer = await slow.store.openWriter("t2m/c/0/1");
  await writer.write(bytesOf("ri"));
  await other.publish();
  const last = await open(undefined);
  await expect(open(share)).rejects.toMatchObject({ code: "locked" });
  await last.store.set("zarr.json", bytesOf("{}"));
  const written = slow.store.set("t2m/c/1/0", bytesOf("late"));
  await expect(written).rejects.toMatchObject({ code: expect.any(String) });
  await last.publish();
  const published = filesOf(target);
  expect(Object.keys(published)).toEqual([key, "zarr.json"]);

  await writer.write(bytesOf("ght"));
  await expect(writer.commit()).rejects.toMatchObject({ code: expect.any(String) });
  await writer.abort().catch(() => {});
  for (const late of [key, "t2m/c/2/0", "new/zarr.json", "zarr.json"]) {
    expect((slow.store as DirectoryStore).setSync?.(late, bytesOf("late"))).not.toBe(true);
    await expect(slow.store.set(late, bytesOf("late"))).rejects.toThrow();
  }
  await expect(slow.publish()).rejects.toThrow();
  expect(filesOf(target)).toEqual(published);
  expect(await readdir(folder)).toEqual(["out.zarr"]);
  const hint = expect.stringContaining("there is nothing to do");
  await expect(open(share)).rejects.toMatchObject({ code: "target-exists", details: { hint } });
  expect(await readdir(folder)).toEqual(["out.zarr"]);
});

/** A store in memory with conditional writes. */
class ConditionalStore extends MemoryStore {
  async setIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    if ((await this.size(key)) !== undefined) return false;
    await this.set(key, bytes);
    return true;
  }
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

const jointRun = (share: JointRun["share"]): JointRun => ({
  ...{ id: "00000000-0000-4000-8000-0123456789ab", header: "{}", ...(share && { share }) },
  ...{ assertHeader: () => {}, assertReady: async () => {}, isOfInterest: () => true },
});

test("in a bucket it creates nothing in the place of what is there", async () => {
  const store = new ConditionalStore();
  const share = { stage: 0, index: 0, count: 1 };
  const open = (one: JointRun["share"]) =>
    openJointInPlace(store, { ifExists: "error", joint: jointRun(one) });
  const slow = await open(share);
  const other = await open(share);
  await other.store.set("c/0", bytesOf("right"));
  // the same bytes count as written
  await slow.store.set("c/0", bytesOf("right"));
  await other.publish();
  const last = await open(undefined);
  await last.store.set(".zarray", bytesOf("{}"));
  await last.publish();
  expect((await keysOf(store)).sort()).toEqual([".zarray", "c/0"]);

  await store.set("c/0", bytesOf("of a later day"));
  await expect(slow.store.set("c/0", bytesOf("right"))).rejects.toMatchObject({ code: "differs" });
  const writer = await slow.store.openWriter("c/0");
  await writer.write(bytesOf("right"));
  await expect(writer.commit()).rejects.toMatchObject({ code: "differs" });
  expect(await store.get("c/0")).toEqual(bytesOf("of a later day"));
  // and a process that comes even later does not begin again
  await expect(open(share)).rejects.toMatchObject({ code: "target-exists" });
  expect((await keysOf(store)).sort()).toEqual([".zarray", "c/0"]);
});

test("no process begins while `zarrflow finish` is completing the run", async () => {
  const folder = await testFolder();
  const shape = [24, 32, 32];
  const array = { shape, chunks: [2, 32, 32], dataType: "float32", zarrFormat: "v2" } as const;
  await given({ at: join(folder, "src.zarr"), ...array, values: (i) => i % 99 });
  const how = { chunks: [24, 8, 8], threads: 1, maxMemory: "150kB", strategy: "direct" } as const;
  const target = join(folder, "out.zarr");
  const file = parsePlan(await textOf(planFlow(join(folder, "src.zarr"), target, how)));
  const options = { encoders: ENCODERS, index: 0, count: 1 };
  await runShare(file, options);
  const [control = ""] = (await readdir(folder)).filter((name) => name.startsWith("."));
  // a value of the closed build is lost: the run is open again, and the share can be run once more
  const build = join(folder, control, "build");
  const [key = ""] = (await readdir(build)).filter((name) => name !== ".zarray");
  await writeFile(join(build, key), "");
  await expect(finishPlan(file, { encoders: ENCODERS })).rejects.toMatchObject({
    code: "tasks-undone",
    message: expect.stringMatching(/^1 of 4 tasks/),
  });
  expect((await runShare(file, options)).tasks).toBe(1);
  const stopped = new AbortController();
  const onEvent = ({ type }: { type: string }) => void (type === "verify" && stopped.abort());
  const ending = finishPlan(file, { encoders: ENCODERS, verify: true, signal: stopped.signal, onEvent });
  await ending.catch(() => {});
  await finishPlan(file, { encoders: ENCODERS }).catch(() => {});
  expect((await readdir(folder)).sort()).toEqual(["out.zarr", "src.zarr"]);
});

test("no process begins in a bucket while the run is finished, and what was ready once is not asked again", async () => {
  const store = new ConditionalStore();
  let asked = 0;
  const open = (share: JointRun["share"]) =>
    openJointInPlace(store, {
      ifExists: "error",
      joint: { ...jointRun(share), assertReady: async () => void asked++ },
    });
  const share = { stage: 0, index: 0, count: 1 };
  await (await open(share)).publish();
  await open(undefined); // and ends before it publishes
  await expect(open(share)).rejects.toMatchObject({ code: "locked" });
  expect(asked).toBe(2);
  await (await open(undefined)).publish();
  expect(asked).toBe(2);
});

test("a run inside a target is found by its lock where the store lists locks among its keys", async () => {
  const store = new ConditionalStore();
  await assertNoneInside(store);
  await store.set("a/b/.zarrflow-lock", encodedLock(await newLockRecord()));
  await expect(assertNoneInside(store)).rejects.toMatchObject({ code: "locked" });
  await assertNoneInside(store, { breakLock: true });
});
