// @module-tag slow
import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { S3Store } from "../../../src/stores/s3.ts";
import type { TargetBuild } from "../../../src/stores/store.ts";
import { inPlace, openInPlaceBuild } from "../../../src/stores/target/in-place-build.ts";
import * as pauses from "../../../src/util/pause.ts";
import { keysOf } from "../../support/consume.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { until } from "../../support/until.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../s3-server.ts";

const LOCK = "x.zarr/.zarrflow-lock";
const MINUTE = 60_000;
const text = (value: string) => new TextEncoder().encode(value);

describe("openInPlaceBuild", () => {
  withoutPauses();
  let server: S3Server;
  let store: S3Store;
  beforeEach(async () => {
    server = await serveBucket();
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const { endpoint } = server;
    store = new S3Store({
      bucket: BUCKET,
      prefix: "x.zarr",
      endpoint,
      credentials,
      retry: { firstWait: "1ms" },
    });
  });
  afterEach(async () => {
    vi.useRealTimers();
    server.fault = undefined;
    for (const build of builds.splice(0)) await build.discard();
    await server.close();
  });

  /** Builds are ended after each test: locks are renewed for as long as they are held. */
  const builds: TargetBuild[] = [];
  const openBuild: typeof openInPlaceBuild = async (...place) => {
    const build = await openInPlaceBuild(...place);
    builds.push(build);
    return build;
  };

  const keys = () => [...server.objects.keys()].sort();
  const lock = (record: object) => server.objects.set(LOCK, Buffer.from(JSON.stringify(record)));
  const now = () => new Date().toISOString();

  it("locks its place until it is published, and shows no lock among the keys", async () => {
    const build = await openBuild(store, { ifExists: "error" });
    expect(keys()).toEqual([LOCK]);
    await build.store.set("a", text("1"));
    expect(await keysOf(store)).toEqual(["a"]);
    await build.publish();
    expect(keys()).toEqual(["x.zarr/a"]);
    await build.discard();
    expect(keys()).toEqual(["x.zarr/a"]);
  });

  it("discards what was written, and its lock", async () => {
    const build = await openBuild(store, { ifExists: "error" });
    await build.store.set("a", text("1"));
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
    const slow = new S3Store({
      bucket: BUCKET,
      prefix: "x.zarr",
      endpoint: server.endpoint,
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
      retry: { onRetry: () => interruption.abort() },
    });
    const opened = openBuild(slow, { ifExists: "error", signal: interruption.signal });
    await expect(opened).rejects.toMatchObject({ code: "aborted" });
    server.fault = undefined;
    expect(keys()).toEqual([]);
  });

  it("holds its lock no longer when it cannot be discarded", async () => {
    const failing = new S3Store({
      bucket: BUCKET,
      prefix: "x.zarr",
      endpoint: server.endpoint,
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
      retry: { attempts: 1 },
    });
    const build = await openBuild(failing, { ifExists: "error" });
    server.fault = (response) => {
      response.destroy();
      return true;
    };
    await expect(build.discard()).rejects.toMatchObject({ code: "transient" });
    server.fault = undefined;
    const next = await openBuild(store, { ifExists: "replace" });
    await next.discard();
    expect(keys()).toEqual([]);
  });

  it.each(["error", "replace"] as const)("of two at once one is refused (%s)", async (ifExists) => {
    const builds = await Promise.allSettled(Array.from({ length: 4 }, () => openBuild(store, { ifExists })));
    const won = builds.filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const build of builds) {
      if (build.status === "rejected") {
        expect(build.reason).toMatchObject({
          code: "locked",
          exitCode: 1,
          details: { store: "s3://bucket/x.zarr", found: expect.stringContaining(`process ${process.pid}`) },
        });
      }
    }
    await store.set("a", text("1"));
    await expect(openBuild(store, { ifExists })).rejects.toMatchObject({ code: "locked" });
    expect(keys()).toEqual([LOCK, "x.zarr/a"]);
  });

  it("leaves no lock where it refuses a target that exists", async () => {
    await store.set("a", text("1"));
    await expect(openBuild(store, { ifExists: "error" })).rejects.toMatchObject({
      code: "target-exists",
    });
    expect(keys()).toEqual(["x.zarr/a"]);
  });

  it("refuses what it would when its place is checked alone, and changes nothing", async () => {
    const { check } = inPlace(store);
    await check({ ifExists: "error" });
    lock({ owner: "other", host: "elsewhere", pid: 1, begun: now(), renewed: now() });
    await expect(check({ ifExists: "error" })).rejects.toMatchObject({ code: "locked" });
    await store.set("a", text("1"));
    await expect(check({ ifExists: "replace" })).rejects.toMatchObject({ code: "locked" });
    server.objects.delete(LOCK);
    await expect(check({ ifExists: "error" })).rejects.toMatchObject({ code: "target-exists" });
    await check({ ifExists: "replace" });
    expect(keys()).toEqual(["x.zarr/a"]);
  });

  it("takes no lock for dead by its process and machine: those of another container may be called the same", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    lock({ owner: "other", host: hostname(), pid: child.pid, begun: now(), renewed: now() });
    await store.set("a", text("half"));
    const replaced = openBuild(store, { ifExists: "replace" });
    await expect(replaced).rejects.toMatchObject({
      code: "locked",
      details: { hint: expect.stringContaining("--break-lock") },
    });
    const build = await openBuild(store, { ifExists: "replace", breakLock: true });
    expect(keys()).toEqual([LOCK]);
    await build.publish();
  });

  it("takes the age of a lock by the server's clock, whatever is written in it", async () => {
    const later = new Date(Date.now() + 600 * MINUTE).toISOString();
    await store.set(".zarrflow-lock", text(JSON.stringify({ owner: "other", begun: later, renewed: later })));
    const held = openBuild(store, { ifExists: "error" });
    await expect(held).rejects.toMatchObject({ code: "locked" });
    server.fault = (response, { method, key }) => {
      if (method !== "HEAD" || key !== LOCK) return false;
      const hourBefore = new Date(Date.now() - 60 * MINUTE).toUTCString();
      response.writeHead(200, { "content-length": 10, "last-modified": hourBefore }).end();
      return true;
    };
    await (await openBuild(store, { ifExists: "error" })).publish();
    expect(keys()).toEqual([]);
  });

  it("stops at once when another run has taken its place", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const build = await openBuild(store, { ifExists: "error" });
    expect(build.lost?.aborted).toBe(false);
    lock({ owner: "other", host: "elsewhere", pid: 1, begun: now(), renewed: now() });
    vi.advanceTimersByTime(MINUTE);
    await until(() => build.lost?.aborted);
    expect(build.lost?.reason).toMatchObject({ code: "locked" });
    await build.discard();
    expect(keys()).toEqual([LOCK]);
  });

  it("takes over from a run that has not been seen for long, but not from what cannot be read and is new", async () => {
    const seen = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();
    const record = { owner: "other", host: "elsewhere", pid: 1, begun: seen(100) };
    lock({ ...record, renewed: seen(4) });
    await expect(openBuild(store, { ifExists: "error" })).rejects.toMatchObject({
      code: "locked",
      details: { found: expect.stringContaining("process 1 on elsewhere") },
    });
    lock({ ...record, renewed: seen(6) });
    await (await openBuild(store, { ifExists: "error" })).publish();
    await store.set(".zarrflow-lock", text("{"));
    await expect(openBuild(store, { ifExists: "error" })).rejects.toMatchObject({ code: "locked" });
    server.objects.delete(LOCK);
  });

  it("publishes nothing, and removes nothing, once another run has taken over", async () => {
    const build = await openBuild(store, { ifExists: "error" });
    await build.store.set("a", text("1"));
    lock({ owner: "other", host: "elsewhere", pid: 1, begun: now(), renewed: now() });
    await expect(build.publish()).rejects.toMatchObject({ code: "locked" });
    await build.discard();
    expect(keys()).toEqual([LOCK, "x.zarr/a"]);
  });

  describe("looks at its lock when it is asked whether the place is its own", () => {
    const looks = () => server.requests.filter(({ method, key }) => method === "GET" && key === LOCK).length;

    it("and not again when it is published and gives it free within a second", async () => {
      const build = await openBuild(store, { ifExists: "error" });
      const before = looks();
      await build.assertHeld?.();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 900 });
      await build.publish();
      expect(looks() - before).toBe(1);
      expect(keys()).toEqual([]);
    });

    it.each([1100, -5000])("and again when it is published %i ms later by the clock", async (later) => {
      const build = await openBuild(store, { ifExists: "error" });
      await build.assertHeld?.();
      lock({ owner: "other", host: "elsewhere", pid: 1, begun: now(), renewed: now() });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + later });
      await expect(build.publish()).rejects.toMatchObject({ code: "locked" });
      expect(keys()).toEqual([LOCK]);
    });

    it("and fails when another run has taken over", async () => {
      const build = await openBuild(store, { ifExists: "error" });
      lock({ owner: "other", host: "elsewhere", pid: 1, begun: now(), renewed: now() });
      await expect(build.assertHeld?.()).rejects.toMatchObject({ code: "locked" });
    });
  });

  it("of two that take over the lock of a dead run at once one is refused", async () => {
    const old = new Date(0).toISOString();
    lock({ owner: "dead", host: "elsewhere", pid: 1, begun: old, renewed: old });
    // one removes the lock of the other, which it takes for the dead run's, before they look whose the place is
    let deletions = 0;
    const settling = vi
      .mocked(pauses.pause)
      .mockImplementation(() => until(() => settling.mock.calls.length === 2));
    server.fault = async (_, { method }) => {
      if (method === "DELETE" && ++deletions === 1) await until(() => deletions === 2);
      else if (method === "DELETE" && deletions === 2) await until(() => settling.mock.calls.length === 1);
      return false;
    };
    const builds = await Promise.allSettled([1, 2].map(() => openBuild(store, { ifExists: "replace" })));
    expect(deletions).toBe(2);
    expect(builds.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const build of builds) if (build.status === "fulfilled") await build.value.publish();
  });

  it("renews its lock while it runs", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const build = await openBuild(store, { ifExists: "error" });
    const renewed = () => JSON.parse(server.objects.get(LOCK)?.toString() ?? "{}").renewed;
    const first = renewed();
    vi.advanceTimersByTime(MINUTE);
    await until(() => renewed() !== first);
    await build.publish();
    vi.advanceTimersByTime(10 * MINUTE);
    expect(keys()).toEqual([]);
  });

  it("does without a lock where the server knows none, or forgets to compare", async () => {
    server.fault = (response, { headers }) => {
      if (!headers["if-none-match"]) return false;
      response.writeHead(501).end("<Error><Code>NotImplemented</Code></Error>");
      return true;
    };
    const build = await openBuild(store, { ifExists: "error" });
    await build.store.set("a", text("1"));
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
    const build = await openBuild(store, { ifExists: "error" });
    await build.publish();
    expect(keys()).toEqual([]);
  });

  it("empties a target of many keys by few requests, its documents first", async () => {
    for (let i = 0; i < 2500; i++) server.objects.set(`x.zarr/t/c/${i}`, Buffer.from("x"));
    server.objects.set("x.zarr/t/zarr.json", Buffer.from("{}"));
    server.objects.set("y.zarr/zarr.json", Buffer.from("{}"));
    const build = await openBuild(store, { ifExists: "replace" });
    expect(keys()).toEqual([LOCK, "y.zarr/zarr.json"]);
    const deletions = server.requests.filter(({ query }) => query.has("delete"));
    expect(deletions).toHaveLength(4);
    expect(deletions[0]?.body.toString()).toContain("<Key>x.zarr/t/zarr.json</Key></Object></Delete>");
    await build.publish();
  });
});
