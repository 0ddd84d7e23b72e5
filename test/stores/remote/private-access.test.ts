import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parsePlan } from "../../../src/flows/jobs/parse-plan.ts";
import { encodersHere, planFileOf } from "../../../src/flows/jobs/plan-file.ts";
import { finishPlan, runShare } from "../../../src/flows/jobs/run-share.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import {
  asStore,
  copy,
  diff,
  digest,
  info,
  open,
  openArray,
  rechunk,
  slice,
  tree,
  validate,
} from "../../../src/index.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { runIdentity } from "../../../src/run/run-identity.ts";
import { parseStoreUrl } from "../../../src/stores/url.ts";
import { zipInStore } from "../../../src/stores/zip.ts";
import * as pauses from "../../../src/util/pause.ts";
import { redact } from "../../../src/util/redact.ts";
import { all, valuesIn } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type SeenRequest, serveValues, type ValueServer } from "../value-server.ts";

const folder = temporaryFolder();

/** No name by which a secret is known. */
const QUERY = "k=hunter2%2Fa+b&v='x'";
const HEADERS = { "X-Key": "hunter2" };
const DENIED = { code: "access-denied" };
const INVALID = { code: "invalid-option" };

let server: ValueServer;
let isLetIn: (request: SeenRequest) => boolean;
const byQuery = ({ url }: SeenRequest) => url.endsWith(`?k=hunter2%2Fa+b&v=%27x%27`);
const byHeader = ({ headers }: SeenRequest) => headers["x-key"] === "hunter2";

beforeEach(async () => {
  isLetIn = () => true;
  const t = { chunks: [2], dataType: "uint8", fillValue: 0, values: [1, 2, 3, 4, 5, 6] };
  const store = await given({ zarrFormat: "v2", attributes: { title: "x" }, arrays: { t } });
  const values = await valuesIn(store, "g.zarr");
  await copy(store, zipInStore(store, "z.zarr.zip"));
  values.set("z.zarr.zip", (await store.get("z.zarr.zip")) ?? new Uint8Array());
  server = await serveValues(values, { isLetIn: (request) => isLetIn(request) });
  return () => server.close();
});

const withQuery = (path: string) => `${server.url}/${path}?${QUERY}`;
const valuesOf = async (url: string, options = {}) =>
  [...(await slice(await openArray(url, options)).read()).data].join();
/** What is written down of a place. */
const written = <T>(place: T): T => JSON.parse(JSON.stringify(place));

describe("a URL with a query", () => {
  it.each([
    ["g.zarr/t", ""],
    ["z.zarr.zip/t", ""],
    ["z.zarr.zip", "|zip:t"],
    ["z.zarr.zip", "|zip:|zarr2:t"],
    ["g.zarr", "|zarr2:t"],
  ])("keeps it for every key of %s%s", async (path, stages) => {
    isLetIn = byQuery;
    const url = `${withQuery(path)}${stages}`;
    expect(await valuesOf(url)).toBe("1,2,3,4,5,6");
    const { spec, store, path: inside } = await open(url);
    const text = JSON.stringify(spec) + store.description + inspect([spec, parseStoreUrl(url)], { depth: 9 });
    expect(text).not.toContain("hunter2");
    // what is written down says what is lacking
    const told = written({ spec, path: inside });
    await expect(open(told)).rejects.toMatchObject({
      ...DENIED,
      message: expect.stringContaining("query of the URL"),
      details: { hint: expect.stringContaining("--query") },
    });
    expect((await open(told, { query: `?${QUERY}` })).kind).toBe("array");
  });

  it("is read by all that reads, and shown by none", async () => {
    isLetIn = byQuery;
    const url = withQuery("g.zarr/t");
    const shown: unknown[] = [];
    const onEvent = (event: unknown) => shown.push(event);
    for (const of of [info(url), tree(url), digest(url), validate(url), diff(url, url)])
      shown.push(...(await all<unknown>(of)));
    await copy(url, folder.next("a.zarr"), { onEvent });
    await rechunk(url, folder.next("b.zarr"), { chunks: [3], onEvent });
    const store = await asStore(url, { chunks: [3] });
    expect(await store.get("0")).toBeDefined();
    await store.close?.();
    shown.push(store.description);
    for (const wrong of [`${server.url}/none.zarr?${QUERY}`, `${server.url}/g.zarr?${QUERY}wrong-hunter2`]) {
      const error = await open(wrong).catch((failure) => failure);
      shown.push(inspect(error, { depth: 9 }), redact(`zarrflow info ${wrong}`));
    }
    expect(inspect(shown, { depth: 20 })).not.toContain("hunter2");
  });

  it("is left out of what is shown, by whatever name", () => {
    parseStoreUrl("https://host/x.zarr?abc");
    expect(redact("no https://host/x.zarr?abc here")).toBe("no https://host/x.zarr?*** here");
  });
});

describe("headers", () => {
  it.each([
    ["given once", HEADERS],
    ["made for each request", async () => HEADERS],
  ])("%s are sent with each request", async (_, headers) => {
    isLetIn = byHeader;
    for (const path of ["g.zarr/t", "z.zarr.zip/t"])
      expect(await valuesOf(`${server.url}/${path}`, { headers })).toBe("1,2,3,4,5,6");
    const target = folder.next("d.zarr");
    await copy(`${server.url}/g.zarr/t`, target, { headers });
    expect(await valuesOf(target)).toBe("1,2,3,4,5,6");
    const { spec } = await open(`${server.url}/g.zarr/t`, { headers });
    expect(JSON.stringify(spec)).not.toContain("hunter2");
    const hint = expect.stringContaining("--header");
    await expect(open(written({ spec, path: "" }))).rejects.toMatchObject({ ...DENIED, details: { hint } });
  });

  it("that are none are refused, and not shown", async () => {
    for (const headers of ["Authorization: hunter2", { a: 1 }, { "a\n": "hunter2" }, { Range: "hunter2" }]) {
      const error = await open(server.url, { headers } as never).catch((failure) => failure);
      expect(error).toMatchObject(INVALID);
      expect(inspect(error)).not.toContain("hunter2");
    }
  });
});

describe("a function in place of fetch", () => {
  it("makes all requests, keeps a flow in its thread, and is part of no plan", async () => {
    const fetch = vi.fn(globalThis.fetch);
    for (const path of ["g.zarr/t", "z.zarr.zip/t"])
      expect(await valuesOf(`${server.url}/${path}`, { fetch })).toBe("1,2,3,4,5,6");
    expect(fetch).toHaveBeenCalledTimes(server.requests.length);
    const changes = { chunks: [3], threads: 2, fetch } as const;
    const planned = await planFlow(`${server.url}/g.zarr/t`, folder.next("f.zarr"), changes);
    await planned.close();
    const { execution, source } = planned.plan;
    expect(execution).toMatchObject({ threads: 1, singleThreadReason: expect.stringContaining("`fetch`") });
    expect(source.store).toEqual({ kind: "http", url: `${server.url}/g.zarr/t` });
  });

  it("that is none is refused", async () => {
    const opening = open(server.url, { fetch: "node-fetch" } as never);
    await expect(opening).rejects.toMatchObject({ ...INVALID, details: { expected: "a function" } });
  });
});

describe("retry", () => {
  it("is held by specs and plans, and so in threads and where a plan is run", async () => {
    const retry = { attempts: 3, timeout: "10s" };
    const { spec } = await open(`${server.url}/z.zarr.zip/t`, { retry });
    expect(spec).toMatchObject({ kind: "zip-value", store: { kind: "http", retry } });
    const changes = { codec: "gzip", threads: 1, retry } as const;
    const planned = await planFlow(`${server.url}/g.zarr/t`, folder.next("r.zarr"), changes);
    const { plan } = parsePlan(JSON.stringify(planFileOf(planned)));
    await planned.close();
    expect(plan.source.store).toMatchObject({ kind: "http", retry });
    const withoutRetry: Plan = JSON.parse(
      JSON.stringify(plan, (name, value) => (name === "retry" ? undefined : value)),
    );
    const identity = (of: Plan) => runIdentity(of, { sourceDocuments: "" });
    expect(identity(plan)).toEqual(identity(withoutRetry));
  });

  it("asks as often as it may, and says so in the error", async () => {
    server.faults.push(
      ...Array(3).fill(
        (response: { writeHead(status: number): { end(): unknown } }) => !!response.writeHead(500).end(),
      ),
    );
    vi.spyOn(pauses, "pause").mockResolvedValue();
    await expect(openArray(`${server.url}/g.zarr/t`, { retry: { attempts: 2 } })).rejects.toMatchObject({
      code: "transient",
      message: expect.stringContaining("2 attempts in "),
      details: { hint: expect.stringContaining("--attempts") },
    });
    expect(server.requests.filter(({ url }) => url === server.requests[0]?.url)).toHaveLength(2);
    vi.restoreAllMocks();
  });

  it.each([{ attempts: 0 }, { attempts: "2" }, { timeout: 0 }, { timeout: "soon" }, { atempts: 2 }, 3])(
    "is refused if it is %j",
    async (retry) => {
      const expected = expect.stringContaining("attempts: 5");
      await expect(open(server.url, { retry } as never)).rejects.toMatchObject({
        ...INVALID,
        details: { expected },
      });
    },
  );
});

it.each([
  ["a query", byQuery, () => withQuery("g.zarr/t"), {}, { query: QUERY }],
  ["headers", byHeader, () => `${server.url}/g.zarr/t`, { headers: HEADERS }, { headers: HEADERS }],
])(
  "a plan of a source with %s holds none, and is run where it is given again",
  async (_, letIn, url, given, again) => {
    isLetIn = letIn;
    const target = folder.next("planned.zarr");
    const encoders = encodersHere();
    const planned = await planFlow(url(), target, { ...given, codec: "gzip", threads: 1 } as never);
    const text = JSON.stringify(planFileOf(planned));
    await planned.close();
    expect(text).not.toContain("hunter2");
    const file = parsePlan(text);
    const share = { encoders, index: 0, count: 1 };
    const message = expect.stringContaining("must be passed again");
    await expect(runShare(file, share)).rejects.toMatchObject({ ...DENIED, message });
    await runShare(file, { ...share, ...again });
    await finishPlan(file, { encoders, ...again });
    expect(await valuesOf(target)).toBe("1,2,3,4,5,6");
    expect(await readFile(join(target, ".zarray"), "utf8")).not.toContain("hunter2");
  },
);
