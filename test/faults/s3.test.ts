// @module-tag long
// @module-tag alone
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy, type FlowEvent, validate } from "../../src/flows/index.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { onRetry } from "../../src/stores/remote/retry-requests.ts";
import { S3Store } from "../../src/stores/s3.ts";
import type { ListableStore } from "../../src/stores/store.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY } from "../stores/s3-server.ts";
import { all, contentsOf } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { makeArray, type Recipe } from "../support/made-array.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { tenthFails } from "./failing-requests.ts";

const recipe: Recipe = { shape: [60, 40], chunks: [4, 4], order: "C", itemSize: 4, missing: 0, seed: 7 };

let server: S3Server;
let folder: string;
beforeEach(async () => {
  server = await serveReachableBucket();
  folder = await mkdtemp(join(tmpdir(), "zarrflow-faults-"));
  const { store } = await makeArray(recipe, "t2m");
  await givenKeys({ ".zgroup": { zarr_format: 2 }, "notes.txt": "no Zarr" }, store);
  nameMemoryStore("faults", store);
});
afterEach(async () => {
  for (const name of ["faults", "faults-back"]) nameMemoryStore(name, undefined);
  await rm(folder, { recursive: true });
  await server.close();
});

/** Every key of a store in memory, with its bytes. */
const contentOf = (name: string) => contentsOf(namedMemoryStore(name) as ListableStore);

describe("with a tenth of all requests failing", () => {
  /** From memory to a folder, a zip in S3, plain keys in S3, and back. */
  async function ring(onEvent?: (event: FlowEvent) => void): Promise<number> {
    server.requests.length = 0;
    const options = { ...(onEvent && { onEvent }), ifExists: "replace" as const };
    const zip = `s3://${BUCKET}/ring/x.zarr.zip`;
    const plain = `s3://${BUCKET}/ring/x.zarr`;
    await copy("memory:faults", join(folder, "x.zarr"), options);
    await copy(join(folder, "x.zarr"), zip, options);
    await copy(zip, plain, options);
    await copy(plain, "memory:faults-back", options);
    return server.requests.length;
  }

  test("a ring ends identical, with no more than 1.3 times the requests, and reports how it waited", async () => {
    const content = await contentOf("faults");
    const requests = await ring();
    expect(await contentOf("faults-back")).toEqual(content);
    server.objects.clear();

    const { fault, met } = tenthFails();
    server.fault = fault;
    const events: FlowEvent[] = [];
    let all = 0;
    // a stall may be taken for a late answer, which is asked for again at once
    const unwatch = onRetry(({ wait }) => wait > 0 && all++);
    const failing = await ring((event) => events.push(event));
    unwatch();
    expect(await contentOf("faults-back")).toEqual(content);
    expect([...met.keys()].sort()).toEqual(["503", "cut body", "reset", "stall"]);
    expect(failing).toBeGreaterThan(requests);
    expect(failing).toBeLessThanOrEqual(1.3 * requests);

    const retries = events.flatMap((event) =>
      event.type === "retry" && event.retry.wait > 0 ? [event.retry] : [],
    );
    const failures = ["503", "cut body", "reset"].reduce((sum, kind) => sum + (met.get(kind) ?? 0), 0);
    expect(all).toBe(failures);
    // those while a flow was planned are told to nobody
    expect(retries.length).toBeGreaterThan(0.7 * failures);
    for (const retry of retries) {
      expect(retry).toMatchObject({ store: `s3://${BUCKET}`, operation: expect.any(String) });
      expect(retry.wait).toBeLessThanOrEqual(200 * 2 ** (retry.attempt - 1));
    }
    expect(server.uploads.size).toBe(0);
    expect([...server.objects.keys()].filter((key) => key.includes("zarrflow-"))).toEqual([]);
  }, 60_000);
});

describe("what a killed run has left", () => {
  const url = `s3://${BUCKET}/x.zarr`;
  const lock = () => {
    const past = "2026-01-02T03:04:05Z";
    const owner = "0d6a3f5e-91c4-4a2b-8e07-3c1f52b7d948";
    const record = { owner, host: "elsewhere", pid: 1, begun: past, renewed: past };
    server.objects.set("x.zarr/.zarrflow-lock", Buffer.from(JSON.stringify(record)));
  };

  test("is replaced, though it is no Zarr", async () => {
    server.objects.set("x.zarr/t2m/0.0", Buffer.from("half"));
    await expect(copy("memory:faults", url, { ifExists: "replace" })).rejects.toMatchObject({
      code: "target-not-empty",
    });
    lock();
    await copy("memory:faults", url, { ifExists: "replace" });
    await copy(url, "memory:faults-back");
    expect(await contentOf("faults-back")).toEqual(await contentOf("faults"));
  });

  test("is found by validate, with the way out", async () => {
    await copy("memory:faults", url);
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const store = new S3Store({ bucket: BUCKET, endpoint: server.endpoint, credentials });
    await (await store.openWriter("x.zarr/t2m/c")).write(new Uint8Array(9e6));
    lock();
    const findings = await all(validate(url));
    const [id] = server.uploads.keys();
    expect(findings.filter(({ what }) => what === "lock" || what === "open-upload")).toEqual([
      expect.objectContaining({
        level: "warning",
        message: expect.stringContaining("process 1 on elsewhere"),
      }),
      expect.objectContaining({
        level: "warning",
        key: "t2m/c",
        message: expect.stringContaining(
          `abort-multipart-upload --bucket bucket --key 'x.zarr/t2m/c' --upload-id '${id}'`,
        ),
      }),
    ]);
    server.fault = (response, { query }) => {
      if (!query.has("uploads")) return false;
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    };
    const levels = [];
    for await (const { what, level } of validate(url)) if (what === "not-checked") levels.push(level);
    expect(levels).toEqual(["info"]);
  });
});
