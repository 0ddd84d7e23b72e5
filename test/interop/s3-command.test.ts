// @module-tag long
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { copy, open } from "../../src/index.ts";
import { requireBuild } from "../built-package.ts";
import { continuing, exitOf, type Run, runCli, startCli } from "../support/cli.ts";
import { digestsOf } from "../support/consume.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type FaultChoice, type FaultProxy, proxyTo } from "./fault-proxy.ts";
import { type Bucket, bucketAt, canPass, environmentOf, LISTS_UPLOADS, servers } from "./s3-servers.ts";
import { hasShared, shared } from "./shared.ts";

const source = `${shared}data/basin-mask.zarr`;
const wrong = { AWS_ACCESS_KEY_ID: "wrongkey1", AWS_SECRET_ACCESS_KEY: "wrongsecret1" };

describe.runIf(hasShared).each(servers)("the command and $name", ({ name: server, openBucket }) => {
  const proxies: FaultProxy[] = [];
  let bucket: Bucket;
  let folder: string;
  let remote: string;
  let targets = 0;

  beforeAll(async () => {
    requireBuild();
    bucket = await openBucket();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-command-"));
    remote = `s3://${bucket.name}/source.zarr`;
    reach(bucket);
    await copy(source, remote);
    await copy(source, `${remote}.zip`);
  });
  beforeEach(() => reach(bucket));
  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
    for (const proxy of proxies) await proxy.close();
    await bucket.close();
  });

  const reach = (way: Bucket, more: Readonly<Record<string, string>> = {}) =>
    stubEnvironment({ ...environmentOf(way), ...more });
  const reachWith = async (faultOf: FaultChoice) => {
    const proxy = await proxyTo(bucket.endpoint, faultOf);
    proxies.push(proxy);
    reach(bucketAt(proxy.endpoint, bucket));
    return proxy;
  };
  const target = () => `s3://${bucket.name}/target-${targets++}.zarr`;
  const zarrflow = (...args: readonly string[]) => runCli(folder, ...args);

  function expectFailure({ code, stdout, stderr }: Run, exit: number, words: RegExp): void {
    expect(stderr).toMatch(words);
    expect(code).toBe(exit);
    for (const secret of [...Object.values(bucket.credentials), ...Object.values(wrong)]) {
      expect(stdout + stderr).not.toContain(secret);
    }
  }

  test.each([[], ["--json"]])("wrong credentials end it with 1 %s", async (...options) => {
    reach(bucket, { AWS_SECRET_ACCESS_KEY: wrong.AWS_SECRET_ACCESS_KEY });
    expectFailure(await zarrflow("copy", remote, "out.zarr", ...options), 1, /credentials are not valid/);
    expectFailure(await zarrflow("copy", source, target(), ...options), 1, /credentials are not valid/);
  });

  test("a key that nobody has ends it with 1", async () => {
    reach(bucket, wrong);
    expectFailure(await zarrflow("copy", remote, "out.zarr"), 1, /credentials are not valid/);
  });

  test("a bucket that is not there ends it with 3", async () => {
    expectFailure(await zarrflow("info", "s3://no-such-bucket/x.zarr"), 3, /the bucket does not exist/);
    expectFailure(
      await zarrflow("copy", source, "s3://no-such-bucket/x.zarr"),
      3,
      /the bucket does not exist/,
    );
  });

  test("a host that nobody knows ends it with 5", async () => {
    reach(bucketAt("http://no-such-host.invalid", bucket));
    expectFailure(await zarrflow("info", remote), 5, /ENOTFOUND|EAI_AGAIN/);
  });

  /** A copy that fails when some of it is done, from a server that then serves all: the command that is printed ends it. */
  async function expectContinued(exit: number): Promise<void> {
    const failed = await zarrflow("copy", remote, "out.zarr", "--io", "1");
    expectFailure(failed, exit, /basin\/1\.0\.1/);
    reach(bucket);
    expect(await zarrflow(...continuing(failed.stderr))).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(["out.zarr"]);
    expect(await digestsOf(join(folder, "out.zarr"))).toEqual(await digestsOf(source));
    rmSync(join(folder, "out.zarr"), { recursive: true });
  }

  test("a 403 on one key ends it with 1, and it can be continued", async () => {
    await reachWith(({ method, url }) =>
      method === "GET" && url.endsWith("/basin/1.0.1") ? "403" : undefined,
    );
    await expectContinued(1);
  });

  test("a body that is cut each time ends it with 5, and it can be continued", async () => {
    await reachWith(({ method, url }) =>
      method === "GET" && url.endsWith("/basin/1.0.1") ? "cut body" : undefined,
    );
    await expectContinued(5);
  });

  test.each(["", ".zip"])(
    "a write that fails each time ends it with 5, and leaves no target%s",
    async (end) => {
      await reachWith(({ method }) => (method === "PUT" || method === "POST" ? "503" : undefined));
      const place = target() + end;
      expectFailure(await zarrflow("copy", source, place), 5, /503/);
      reach(bucket);
      await expect(open(place)).rejects.toMatchObject({ code: "not-found" });
    },
  );

  test("a zip that is cut short ends it with 1", async () => {
    const store = bucket.store({ prefix: "cut" });
    const whole = await bucket.store({ prefix: "" }).get("source.zarr.zip");
    await store.set("x.zip", whole?.subarray(0, whole.length >> 1) ?? new Uint8Array());
    expectFailure(await zarrflow("copy", `s3://${bucket.name}/cut/x.zip`, "out.zarr"), 1, /zip/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of two copies to one place at once one is refused, and what is there is whole", async () => {
    const place = target();
    const runs = await Promise.all([zarrflow("copy", source, place), zarrflow("copy", source, place)]);
    const codes = runs.map(({ code }) => code).sort();
    expect(codes[0]).toBe(0);
    // The other is locked out, or comes when all is done.
    expect([1, 2]).toContain(codes[1]);
    expect(await digestsOf(place)).toEqual(await digestsOf(source));
  });

  test("an interrupt ends a long upload, of which another run sends the rest", async () => {
    const long = join(folder, "long.zarr");
    cpSync(source, long, { recursive: true });
    writeFileSync(join(long, "more"), new Uint8Array(2 ** 25));
    const proxy = await reachWith(({ url }) => (url.includes("partNumber=2") ? "no answer" : undefined));
    const place = `${target()}.zip`;
    const child = startCli(folder, "copy", "long.zarr", place);
    const exit = exitOf(child);
    const stalled = () => proxy.requests.filter(({ url }) => url.includes("partNumber=2"));
    while (stalled().length === 0) await sleep(10);
    child.kill("SIGINT");
    expect(await exit).toBe(130);
    expect(stalled()).toHaveLength(1);
    reach(bucket);
    await expect(open(place)).rejects.toMatchObject({ code: "not-found" });
    expect(await zarrflow("copy", "long.zarr", place, "--resume")).toMatchObject({ code: 0 });
    expect(await zarrflow("diff", "long.zarr", place)).toMatchObject({ code: 0 });
    if (canPass(server, LISTS_UPLOADS)) {
      for await (const { key } of bucket.store({ prefix: "" }).listUploads("")) expect(key).toBe("none");
    }
    rmSync(long, { recursive: true });
  });
});
