import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { copy, open } from "../../src/index.ts";
import { onRetry } from "../../src/stores/remote/retry-requests.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { writableStoreChecks } from "../stores/writable-store-checks.ts";
import { digestsOf } from "../support/consume.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type Bucket, bucketAt, environmentOf, FAULTS, servers } from "./s3-servers.ts";
import { hasShared, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

/** The control port of a toxiproxy 2.5.0; CI insists that there is one. */
const control = process.env.ZARRFLOW_TOXIPROXY ?? "";

const hasToxiproxy = control !== "";

if (!hasToxiproxy && process.env.REQUIRE_S3 === "1") {
  throw new Error("REQUIRE_S3 is set, but ZARRFLOW_TOXIPROXY names no toxiproxy");
}

/** What is wrong with connections; sizes in bytes, times in milliseconds, rates in kB a second. */
interface Toxic {
  readonly type: "latency" | "bandwidth" | "slicer" | "reset_peer" | "limit_data" | "timeout";
  /** Which way it works: on answers by default. */
  readonly stream?: "upstream" | "downstream";
  /** The part of the connections that it falls on. @default 1 */
  readonly toxicity?: number;
  readonly attributes: Readonly<Record<string, number>>;
}

/** A port in front of a server, whose connections can be made bad. */
interface ToxicProxy {
  readonly endpoint: string;
  /** Makes connections bad from now on, in place of what was wrong with them before; those that are open are closed. */
  poison(...toxics: readonly Toxic[]): Promise<void>;
  /** Whether connections are taken at all. */
  enable(enabled: boolean): Promise<void>;
  remove(): Promise<void>;
}

async function openToxicProxy(upstream: string): Promise<ToxicProxy> {
  const name = randomUUID();
  const { listen } = (await ask("POST", "/proxies", {
    name,
    listen: "127.0.0.1:0",
    upstream: new URL(upstream).host,
    enabled: true,
  })) as { readonly listen: string };
  const path = `/proxies/${name}`;
  // Without an address a proxy that is enabled again would listen at another port.
  const enable = async (enabled: boolean) => void (await ask("POST", path, { enabled, listen }));
  return {
    endpoint: `http://${listen}`,
    enable,
    async poison(...toxics) {
      await enable(false);
      for (const { name: toxic } of (await ask("GET", `${path}/toxics`)) as { readonly name: string }[]) {
        await ask("DELETE", `${path}/toxics/${toxic}`);
      }
      for (const toxic of toxics) await ask("POST", `${path}/toxics`, toxic);
      await enable(true);
    },
    remove: async () => void (await ask("DELETE", path)),
  };
}

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(control + path, { method, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`toxiproxy: ${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** Connections that are slow, but end well. */
const SLOW: Readonly<Record<string, readonly Toxic[]>> = {
  latency: [{ type: "latency", attributes: { latency: 10, jitter: 10 } }],
  "answers in slices": [
    { type: "slicer", attributes: { average_size: 700, size_variation: 300, delay: 20 } },
  ],
  "requests in slices": [
    {
      type: "slicer",
      stream: "upstream",
      attributes: { average_size: 3000, size_variation: 1000, delay: 20 },
    },
  ],
};

/** Connections of which some break. */
const BROKEN: Readonly<Record<string, readonly Toxic[]>> = {
  "resets of answers": [{ type: "reset_peer", toxicity: 0.2, attributes: { timeout: 20 } }],
  "resets of requests": [
    { type: "reset_peer", stream: "upstream", toxicity: 0.2, attributes: { timeout: 20 } },
  ],
  "answers that are cut": [{ type: "limit_data", toxicity: 0.3, attributes: { bytes: 20_000 } }],
  "requests that are cut": [
    { type: "limit_data", stream: "upstream", toxicity: 0.3, attributes: { bytes: 20_000 } },
  ],
  "answers that never come": [{ type: "timeout", toxicity: 0.2, attributes: { timeout: 200 } }],
};

/** What some server fails without a proxy: the same checks for all, so that each is run wherever there is a proxy. */
const faulty = new Set(Object.values(FAULTS).flat());

describe.runIf(hasToxiproxy && hasShared).each(servers)("$name through toxiproxy", ({ openBucket }) => {
  const source = `${shared}data/era5-uk-t2m.zarr`;
  let straight: Bucket;
  let bucket: Bucket;
  let proxy: ToxicProxy;
  let folder: string;
  let targets = 0;

  beforeAll(async () => {
    straight = await openBucket();
    proxy = await openToxicProxy(straight.endpoint);
    bucket = bucketAt(proxy.endpoint, straight);
    folder = mkdtempSync(join(tmpdir(), "zarrflow-toxic-"));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
    await proxy.remove();
    await straight.close();
  });

  const reach = (way: Bucket) => stubEnvironment(environmentOf(way));
  const remoteTarget = () => `s3://${bucket.name}/target-${targets++}/x.zarr`;
  const localTarget = () => join(folder, `target-${targets++}`);

  describe.each(Object.entries(SLOW))("%s", (_, toxics) => {
    beforeAll(() => proxy.poison(...toxics));

    const checks = writableStoreChecks(async () => bucket.store());
    for (const { name, run } of checks.filter(({ name }) => !faulty.has(name))) test(name, () => run());
  });

  test("2 MB a second: a copy there and back ends right", async () => {
    await proxy.poison(
      { type: "bandwidth", attributes: { rate: 2000 } },
      { type: "bandwidth", stream: "upstream", attributes: { rate: 2000 } },
    );
    reach(bucket);
    const [remote, back] = [remoteTarget(), localTarget()];
    await copy(source, remote);
    await copy(remote, back);
    expect(filesOf(back)).toEqual(filesOf(source));
  });

  describe.each(Object.entries(BROKEN))("%s", (_, toxics) => {
    test.each(["", ".zip"])("a copy to keys%s ends right, or as transient without a target", async (end) => {
      const remote = remoteTarget() + end;
      await proxy.poison(...toxics);
      reach(bucket);
      const failure = await failureOf(copy(source, remote));
      reach(straight);
      if (failure === undefined) expect(await digestsOf(remote)).toEqual(await digestsOf(source));
      else await expect(open(remote)).rejects.toMatchObject({ code: "not-found" });
    });

    test.each(["", ".zip"])(
      "a copy from keys%s ends right, or as transient without a target",
      async (end) => {
        const remote = remoteTarget() + end;
        reach(straight);
        await copy(source, remote);
        await proxy.poison(...toxics);
        reach(bucket);
        const back = localTarget();
        const failure = await failureOf(copy(remote, back));
        if (failure === undefined) expect(filesOf(back)).toEqual(filesOf(source));
        else await expect(open(back)).rejects.toMatchObject({ code: "not-found" });
      },
    );
  });

  test("a copy ends right when the server comes back", async () => {
    await proxy.poison();
    reach(bucket);
    const remote = remoteTarget();
    await proxy.enable(false);
    let comesBack: Promise<void> | undefined;
    const endWatch = onRetry(() => {
      comesBack ??= proxy.enable(true);
    });
    await copy(source, remote).finally(endWatch);
    expect(comesBack).toBeDefined();
    expect(await digestsOf(remote)).toEqual(await digestsOf(source));
  });

  test("a server that never answers is transient", async () => {
    await proxy.poison({ type: "timeout", attributes: { timeout: 0 } });
    const store = bucket.store({ retry: { timeout: "300ms", attempts: 2 } });
    for (const call of [() => store.get("a"), () => store.set("a", new Uint8Array(1))]) {
      await expect(call()).rejects.toMatchObject({ code: "transient" });
    }
  });

  test("answers that are always cut are transient", async () => {
    reach(straight);
    const remote = remoteTarget();
    await copy(source, remote);
    await proxy.poison({ type: "limit_data", attributes: { bytes: 1000 } });
    reach(bucket);
    const back = localTarget();
    await expect(copy(remote, back)).rejects.toSatisfy(isTransient);
    await expect(open(back)).rejects.toMatchObject({ code: "not-found" });
  });
});

/** How a copy failed, which must be for now; undefined where it did not. */
async function failureOf(copied: Promise<unknown>): Promise<unknown> {
  const error = await copied.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (error !== undefined && !isTransient(error)) throw error;
  return error;
}

function isTransient(error: unknown): boolean {
  return isZarrflowError(error, "transient") || isZarrflowError(error, "short-read");
}
