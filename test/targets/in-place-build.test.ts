// @module-tag slow
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clean } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { processTag } from "../../src/stores/files/process-record.node.ts";
import { isOwnName, temporaryName } from "../../src/stores/reserved-names.ts";
import type { S3Store } from "../../src/stores/s3.ts";
import type { TargetBuild } from "../../src/stores/store.ts";
import { inPlace, openInPlaceBuild } from "../../src/targets/in-place-build.ts";
import { StoreLock } from "../../src/targets/store-lock.ts";
import * as pauses from "../../src/util/pause.ts";
import { refusal, type S3Server, serveBucket, storeIn } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { keysOf } from "../support/consume.ts";
import { deadProcess } from "../support/dead-process.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { until } from "../support/until.ts";

const LOCK = "x.zarr/.zarrflow-lock";
const MINUTE = 60_000;
const LOCKED = { code: "locked" };
const ONE = new Uint8Array(1);

withoutPauses();

describe("openInPlaceBuild", () => {
  let server: S3Server;
  let store: S3Store;
  const open = (retry: object) => storeIn(server, { prefix: "x.zarr", retry });
  beforeEach(async () => {
    server = await serveBucket();
    store = open({ firstWait: "1ms" });
  });
  afterEach(async () => {
    vi.useRealTimers();
    server.fault = undefined;
    for (const build of builds.splice(0)) await build.discard();
    await server.close();
  });

  /** Builds are ended after each test: locks are renewed for as long as they are held. */
  const builds: TargetBuild[] = [];
  const openBuild = async (options: Partial<Parameters<typeof openInPlaceBuild>[1]> = {}, at = store) => {
    const build = await openInPlaceBuild(at, { ifExists: "error", ...options });
    builds.push(build);
    return build;
  };

  const keys = () => [...server.objects.keys()].sort();
  const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();
  /** Puts the lock of another run there. */
  const lock = (renewed = ago(0), more: object = {}) => {
    const record = { owner: "other", host: "elsewhere", pid: 1, begun: ago(100), renewed, ...more };
    server.objects.set(LOCK, Buffer.from(JSON.stringify(record)));
  };

  it("locks its place until it is published, and shows no lock among the keys", async () => {
    const build = await openBuild();
    expect(keys()).toEqual([LOCK]);
    await build.store.set("a", ONE);
    expect(await keysOf(store)).toEqual(["a"]);
    await build.publish();
    expect(keys()).toEqual(["x.zarr/a"]);
    await build.discard();
    expect(keys()).toEqual(["x.zarr/a"]);
    await expect(openBuild()).rejects.toMatchObject({ code: "target-exists" });
    expect(keys()).toEqual(["x.zarr/a"]);
  });

  it("discards what was written, and its lock", async () => {
    const build = await openBuild();
    await build.store.set("a", ONE);
    await build.discard();
    expect(keys()).toEqual([]);
  });

  it("leaves no lock that was taken by a request without an answer, when it is aborted then", async () => {
    const interruption = new AbortController();
    server.fault = (response, { method, body }) => {
      if (method !== "PUT") return false;
      server.objects.set(LOCK, body);
      response.destroy();
      return true;
    };
    const slow = open({ onRetry: () => interruption.abort() });
    const opened = openBuild({ signal: interruption.signal }, slow);
    await expect(opened).rejects.toMatchObject({ code: "aborted" });
    server.fault = undefined;
    expect(keys()).toEqual([]);
  });

  it("holds its lock no longer when it cannot be discarded", async () => {
    const build = await openBuild({}, open({ attempts: 1 }));
    server.fault = (response) => !!response.destroy();
    await expect(build.discard()).rejects.toMatchObject({ code: "transient" });
    server.fault = undefined;
    await (await openBuild({ ifExists: "replace" })).discard();
    expect(keys()).toEqual([]);
  });

  it.each(["error", "replace"] as const)(
    "of several at once all but one are refused (%s)",
    async (ifExists) => {
      const opened = await Promise.allSettled(Array.from({ length: 4 }, () => openBuild({ ifExists })));
      const refused = opened.flatMap((build) => (build.status === "rejected" ? [build.reason] : []));
      const found = expect.stringContaining(`process ${process.pid}`);
      const fault = { ...LOCKED, exitCode: 1, details: { store: "s3://bucket/x.zarr", found } };
      expect(refused).toMatchObject([fault, fault, fault]);
      await store.set("a", ONE);
      await expect(openBuild({ ifExists })).rejects.toMatchObject(LOCKED);
      expect(keys()).toEqual([LOCK, "x.zarr/a"]);
    },
  );

  it("refuses what it would when its place is checked alone, and changes nothing", async () => {
    const { check } = inPlace(store);
    await check({ ifExists: "error" });
    lock();
    await expect(check({ ifExists: "error" })).rejects.toMatchObject(LOCKED);
    await store.set("a", ONE);
    await expect(check({ ifExists: "replace" })).rejects.toMatchObject(LOCKED);
    server.objects.delete(LOCK);
    await expect(check({ ifExists: "error" })).rejects.toMatchObject({ code: "target-exists" });
    await check({ ifExists: "replace" });
    expect(keys()).toEqual(["x.zarr/a"]);
  });

  it("takes no lock for dead by its process and machine: those of another container may be called the same", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    lock(ago(0), { host: hostname(), pid: child.pid });
    await store.set("a", ONE);
    const hint = expect.stringContaining("--break-lock");
    await expect(openBuild({ ifExists: "replace" })).rejects.toMatchObject({ ...LOCKED, details: { hint } });
    const build = await openBuild({ ifExists: "replace", breakLock: true });
    expect(keys()).toEqual([LOCK]);
    await build.publish();
  });

  it("takes over from a run that has not been seen for long, but not from what cannot be read and is new", async () => {
    lock(ago(4));
    const found = expect.stringContaining("process 1 on elsewhere");
    await expect(openBuild()).rejects.toMatchObject({ ...LOCKED, details: { found } });
    lock(ago(6));
    await (await openBuild()).publish();
    await store.set(".zarrflow-lock", Buffer.from("{"));
    await expect(openBuild()).rejects.toMatchObject(LOCKED);
    server.objects.delete(LOCK);
  });

  it("takes the age of a lock by the server's clock, whatever is written in it", async () => {
    const later = ago(-600);
    const record = JSON.stringify({ owner: "other", begun: later, renewed: later });
    await store.set(".zarrflow-lock", Buffer.from(record));
    await expect(openBuild()).rejects.toMatchObject(LOCKED);
    server.fault = (response, { method, key }) => {
      if (method !== "HEAD" || key !== LOCK) return false;
      const hourBefore = new Date(Date.now() - 60 * MINUTE).toUTCString();
      response.writeHead(200, { "content-length": 10, "last-modified": hourBefore }).end();
      return true;
    };
    await (await openBuild()).publish();
    expect(keys()).toEqual([]);
  });

  it("of two that take over the lock of a dead run at once one is refused", async () => {
    lock(new Date(0).toISOString());
    // one removes the lock of the other, which it takes for the dead run's, before they look whose the place is
    let deletions = 0;
    const settling = vi.mocked(pauses.pause);
    settling.mockImplementation(() => until(() => settling.mock.calls.length === 2));
    server.fault = async (_, { method }) => {
      if (method === "DELETE" && ++deletions === 1) await until(() => deletions === 2);
      else if (method === "DELETE" && deletions === 2) await until(() => settling.mock.calls.length === 1);
      return false;
    };
    const opened = await Promise.allSettled([1, 2].map(() => openBuild({ ifExists: "replace" })));
    expect(deletions).toBe(2);
    expect(opened.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const build of opened) if (build.status === "fulfilled") await build.value.publish();
  });

  it("renews its lock while it runs, and stops at once when another run has taken its place", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const build = await openBuild();
    const renewed = () => JSON.parse(server.objects.get(LOCK)?.toString() ?? "{}").renewed;
    const first = renewed();
    vi.advanceTimersByTime(MINUTE);
    await until(() => renewed() !== first);
    expect(build.lockLost?.aborted).toBe(false);
    await build.publish();
    vi.advanceTimersByTime(10 * MINUTE);
    expect(keys()).toEqual([]);
    const robbed = await openBuild();
    lock();
    vi.advanceTimersByTime(MINUTE);
    await until(() => robbed.lockLost?.aborted);
    expect(robbed.lockLost?.reason).toMatchObject(LOCKED);
    await robbed.discard();
    expect(keys()).toEqual([LOCK]);
  });

  it("renews a lock that processes share once a turn, by the first of them", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const first = await StoreLock.take(store, { joint: "plan" });
    vi.advanceTimersByTime(5_000);
    const second = await StoreLock.take(store, { joint: "plan" });
    const [reads, writes] = [vi.spyOn(store, "get"), vi.spyOn(store, "set")];
    for (let turn = 1; turn <= 3; turn++) {
      for (const [i, milliseconds] of [25_000, 5_000].entries()) {
        vi.advanceTimersByTime(milliseconds);
        await until(() => reads.mock.calls.length === 2 * turn - 1 + i);
        await Promise.all(reads.mock.results.map(({ value }) => value));
        await setImmediate();
        await Promise.all(writes.mock.results.map(({ value }) => value));
      }
      expect(writes).toHaveBeenCalledTimes(turn);
    }
    for (const lock of [first, second]) await lock?.release();
  });

  it("publishes nothing, and removes nothing, once another run has taken over", async () => {
    const build = await openBuild();
    await build.store.set("a", ONE);
    lock();
    await expect(build.assertHeld?.()).rejects.toMatchObject(LOCKED);
    await expect(build.publish()).rejects.toMatchObject(LOCKED);
    await build.discard();
    expect(keys()).toEqual([LOCK, "x.zarr/a"]);
  });

  describe("looks at its lock when it is asked whether the place is its own", () => {
    it("and not again when it is published and gives it free within a second", async () => {
      const build = await openBuild();
      server.requests.length = 0;
      await build.assertHeld?.();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 900 });
      await build.publish();
      const looks = server.requests.filter(({ method, key }) => method === "GET" && key === LOCK);
      expect(looks).toHaveLength(1);
      expect(keys()).toEqual([]);
    });

    it.each([1100, -5000])("and again when it is published %i ms later by the clock", async (later) => {
      const build = await openBuild();
      await build.assertHeld?.();
      lock();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + later });
      await expect(build.publish()).rejects.toMatchObject(LOCKED);
      expect(keys()).toEqual([LOCK]);
    });
  });

  it("does without a lock where the server knows none, or forgets to compare", async () => {
    server.fault = (response, request) =>
      !!request.headers["if-none-match"] && refusal(501, "NotImplemented")(response, request);
    const build = await openBuild();
    await build.store.set("a", ONE);
    await build.publish();
    expect(keys()).toEqual(["x.zarr/a"]);
  });

  it("is not refused by its own lock whose answer was lost", async () => {
    server.faults.push(
      () => false,
      (response) => {
        response.end = () => response.destroy();
        return false;
      },
    );
    await (await openBuild()).publish();
    expect(keys()).toEqual([]);
  });

  it("empties a target of many keys by few requests, its documents first", async () => {
    for (let i = 0; i < 2500; i++) server.objects.set(`x.zarr/t/c/${i}`, Buffer.from("x"));
    for (const name of ["x.zarr/t", "y.zarr"]) server.objects.set(`${name}/zarr.json`, Buffer.from("{}"));
    const build = await openBuild({ ifExists: "replace" });
    expect(keys()).toEqual([LOCK, "y.zarr/zarr.json"]);
    const deletions = server.requests.filter(({ query }) => query.has("delete"));
    expect(deletions).toHaveLength(4);
    expect(deletions[0]?.body.toString()).toContain("<Key>x.zarr/t/zarr.json</Key></Object></Delete>");
    await build.publish();
  });
});

describe.skipIf(process.platform !== "linux")("what a dead process was writing", () => {
  const folder = temporaryFolder();
  const [other, untold] = [".zarrflow-0123456789ab-1x1x0123456789abx1", ".zarrflow-0123456789ab-1"];

  /** A folder with what a dead process, this one, one of another machine, and one that did not say were writing. */
  async function left() {
    const { tag, record } = await deadProcess();
    const root = join(folder.next("g.zarr"));
    const live = temporaryName(processTag());
    for (const below of ["", "t/c/0"]) {
      await mkdir(join(root, below), { recursive: true });
      for (const name of [temporaryName(tag), live, other, untold, "x"])
        await writeFile(join(root, below, name), "");
    }
    const names = async () =>
      (await readdir(root, { recursive: true })).filter((path) => isOwnName(path.replace(/.*\//, ""))).sort();
    const stay = [live, other, untold].flatMap((name) => [name, `t/c/0/${name}`]).sort();
    return { root, tag, record, names, stay };
  }

  it("is removed by the run that takes over its lock, at its end, and nothing else", async () => {
    const { root, record, names, stay } = await left();
    const store = new DirectoryStore(root);
    await (await StoreLock.take(store))?.release();
    expect(await names()).toHaveLength(8); // who takes over nothing looks for nothing
    const begun = new Date().toISOString();
    const text = JSON.stringify({ owner: "x", ...record, begun, renewed: begun });
    await store.set(".zarrflow-lock", Buffer.from(text));
    const lock = await StoreLock.take(store);
    expect(await names()).toHaveLength(8);
    await lock?.release();
    expect(await names()).toEqual(stay);
    expect(await readdir(root)).toContain("x");
  });

  it("is removed by clean at once", async () => {
    const { root, tag, names, stay } = await left();
    for await (const { isRemoved, place } of clean(root)) expect(isRemoved, place).toBe(place.includes(tag));
    expect(await names()).toEqual(stay);
  });
});
