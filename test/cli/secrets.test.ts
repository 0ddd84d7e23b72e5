// @module-tag slow
// @module-tag sampled
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { retryText } from "../../src/cli/progress/event-progress.ts";
import { planPage } from "../../src/cli/report/page.ts";
import { failureText } from "../../src/cli/text/failure.ts";
import { toJson } from "../../src/cli/text/results.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import { planText } from "../../src/flows/text/plan.ts";
import {
  copy,
  create,
  createGroup,
  diff,
  digest,
  type FlowEvent,
  info,
  open,
  slice,
  tree,
  validate,
} from "../../src/index.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { S3Store } from "../../src/stores/s3.ts";
import { openStore } from "../../src/stores/url.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { testFolder } from "../support/cli.ts";
import { all, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { oneIn } from "../support/samples.ts";
import { writeV2Group, writeV2Metadata } from "../support/v2-store.ts";
import { Shell, shell } from "./shell.ts";

withoutPauses();

const SECRET = "hunter2";

/** URLs in which a secret stands somewhere. */
const URLS = [
  `https://user:${SECRET}@localhost:1/a.zarr`,
  `https://${SECRET}@localhost:1/a.zarr`,
  `http://localhost:1/a.zarr?sig=${SECRET}`,
  `http://localhost:1/a.zarr?token=${SECRET}#x`,
  `http://localhost:1/a.zarr#token=${SECRET}`,
  `http://localhost:1/a.zip?X-Amz-Credential=k&X-Amz-Signature=${SECRET}|zip:b`,
  `http://user:${SECRET}@localhost:1/a.zip|zip:b`,
  `s3://KEY:${SECRET}@bucket/a.zarr`,
  `s3://bucket/a.zarr?X-Amz-Signature=${SECRET}`,
  `s3://bucket/a.zarr?AWSAccessKeyId=${SECRET}`,
  `s3a://KEY:${SECRET}@bucket/a.zarr`,
  `gs://user:${SECRET}@bucket/a.zarr`,
  `az://container/a.zarr?sig=${SECRET}`,
  `abfs://user:${SECRET}@account.dfs.core.windows.net/a.zarr`,
  `hf://user:${SECRET}@datasets/a/b`,
  `htps://user:${SECRET}@host/a.zarr`,
  `https:/user:${SECRET}@host/a.zarr`,
  `file://user:${SECRET}@host/a.zarr`,
  `file:///a.zarr?token=${SECRET}`,
  `ftp://user:${SECRET}@host/a.zarr?key=${SECRET}`,
  `zip://x::https://user:${SECRET}@host/a.zip`,
  `simplecache::s3://bucket/a.zarr?token=${SECRET}`,
  `a.zarr|https://user:${SECRET}@host/b`,
  `memory:x?token=${SECRET}`,
  `none.zarr?sig=${SECRET}`,
  `https://localhost:1/a.zarr?X%2DAmz%2DCredential=k&X%2damz%2DSignature=${SECRET}`,
  `https://localhost:1/a.zarr?%2574oken=${SECRET}`,
  `HTTPS://LOCALHOST:1/a.zarr?TOKEN=${SECRET}`,
  `https://localhost:1/a.zarr;Token=${SECRET}/b`,
  `https://localhost:1/a.zarr%3FX%2DAmz%2DSignature=${SECRET}`,
  `https://us'er:${SECRET}@localhost:1/a.zarr`,
  `https://user:my ${SECRET}@localhost:1/a.zarr`,
  `https:user:${SECRET}@localhost:1/a.zarr`,
  `s3://bucket/a.zarr?X%2DAmz%2DSignature=${SECRET}`,
];

/** All files below a folder, by their paths in it. */
function filesBelow(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]));
}

/** All that an error can show. */
function textsOf(error: unknown): string {
  return [
    inspect(error, { depth: 20 }),
    failureText(error),
    failureText(error, { json: true }),
    JSON.stringify(error),
  ].join("\n");
}

/** What a call fails with, or finds: `validate` tells of much that others fail with. */
async function failureOf(run: () => unknown): Promise<unknown> {
  let found: unknown = [];
  try {
    const answer = await run();
    const isStream = answer && typeof answer === "object" && Symbol.asyncIterator in answer;
    if (isStream) found = await all(answer as AsyncIterable<unknown>);
    else if (Array.isArray(answer)) found = answer;
  } catch (error) {
    return error;
  }
  expect(found).not.toEqual([]);
  return found;
}

const source = makeHierarchy("v2");

describe("credentials in URLs are not shown", () => {
  const reading: Record<string, (url: string) => unknown> = {
    open: (url) => open(url),
    info: (url) => info(url),
    tree: (url) => tree(url),
    digest: (url) => digest(url),
    validate: (url) => validate(url),
    "diff to": (url) => diff(url, "memory:url-secrets"),
    "copy of": (url) => copy(url, "memory:other"),
  };
  const writing: Record<string, (url: string) => unknown> = {
    "copy to": async (url) => copy(await source, url),
    "create at": (url) => create(url, { shape: [1], dataType: "int8", chunks: [1] }),
    "createGroup at": (url) => createGroup(url),
    // a server that cannot be written only fails where scratch objects are needed
    "copy by": async (url) => [
      await copy(await source, new MemoryStore(), { scratch: url }).catch((error) => error),
    ],
  };

  describe.each(URLS.map((url, i) => [url, i] as const))("%s", (url, i) => {
    const doings = /^(?:memory|none)/.test(url) ? reading : { ...reading, ...writing };
    Object.entries(doings).forEach(([name, run], j) => {
      it(`by errors of ${name}`, oneIn(3, i + j), async () => {
        expect(textsOf(await failureOf(() => run(url)))).not.toContain(SECRET);
      });
    });
  });

  it("by errors of stores that are made with them", async () => {
    for (const run of [
      () => new HttpStore(`https://user:${SECRET}@host/a`),
      () => new HttpStore(`ftp://host/a?token=${SECRET}`),
      () =>
        new HttpStore(`http://localhost:1/a?sig=${SECRET}`, { retry: { timeout: 2, attempts: 1 } }).get("x"),
      () => new S3Store({ bucket: `KEY:${SECRET}@bucket`, credentials: "anonymous" }),
      () => new S3Store({ bucket: "bbb", credentials: "anonymous", endpoint: `http://user:${SECRET}@host` }),
      () => openStore({ kind: "http", url: `https://user:${SECRET}@host/a` }),
      () => openStore({ kind: "x", url: `https://user:${SECRET}@host/a` } as never),
    ])
      expect(textsOf(await failureOf(run))).not.toContain(SECRET);
  });
});

describe("a signed URL", () => {
  let url = "";
  let failures = 0;
  let close = () => {};
  beforeAll(async () => {
    const store = await makeHierarchy("v2", { consolidated: true });
    const server = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://host");
      if ((searchParams.get("sig") ?? searchParams.get("X-Amz-Signature")) !== SECRET)
        return response.writeHead(403).end();
      if (failures > 0 && failures--) return response.writeHead(503, { "retry-after": "0" }).end();
      const bytes = await store.get(pathname.slice(3));
      if (bytes === undefined) return response.writeHead(404).end();
      response.writeHead(200, { "content-length": bytes.length });
      return response.end(request.method === "HEAD" ? undefined : bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/s`;
    close = () => {
      server.close();
      server.closeAllConnections();
    };
  });
  afterAll(() => close());

  it.each(["sig", "X%2DAmz%2DSignature", "X-Amz-Date=1&X%2dAmz%2DSignature"])(
    "with ?%s= works in this process, and is in no plan, event, report, file or name",
    async (parameter) => {
      const shown: unknown[] = [];
      const folder = await testFolder();
      const files = () => [...filesBelow(folder)].map((entry) => entry.join(" "));
      const onEvent = (event: FlowEvent) => {
        shown.push(event, ...files());
        if (event.type === "retry")
          shown.push(retryText(event.retry, 1), inspect(event.retry, { depth: 20 }));
      };
      const source = { spec: { kind: "http", url: `${url}?${parameter}=${SECRET}` }, path: "" } as const;
      failures = 1;
      const planned = await planFlow(source, join(folder, "signed.zarr"), { onEvent, codec: "gzip" });
      shown.push(planned.plan, planText(planned.plan), planned.source.description);
      const command = `zarrflow copy ${source.spec.url} signed.zarr`;
      shown.push(planPage({ command, version: "1.2.3", started: new Date(), plan: planned.plan }));
      const report = await runFlow(planned, { onEvent, verify: true });
      shown.push(report, ...files());
      expect(report.keysWritten).toBeGreaterThan(0);
      const node = await open({ ...source, path: "time" });
      shown.push(node.spec, node.store.description);
      if (node.kind === "array") await slice(node, {}).read();
      const missing = { ...source, path: "nothing" };
      shown.push(textsOf(await failureOf(() => open(missing))));
      const wrong = { ...source, spec: { kind: "http", url: `${url}?${parameter}=${SECRET}wrong` } } as const;
      for (const run of [() => open(wrong), () => info(wrong), () => copy(wrong, join(folder, "t.zarr"))])
        shown.push(textsOf(await failureOf(run)));
      expect(shown.join("\n")).toContain("ledger");
      const said = (one: unknown) => inspect(one, { depth: 20 }) + toJson(JSON.parse(JSON.stringify(one)));
      const text = shown.map(said).join("\n");
      expect(text).not.toContain(SECRET);
      expect(text).toContain("retry");
    },
  );
});

it("the command names no credentials of URLs in errors, in JSON or in a report", async () => {
  const { run, at } = await shell();
  await copy(await source, at("g.zarr"));
  const [basic = "", signed = "", s3 = ""] = [URLS[0], URLS[2], URLS[7]];
  for (const line of [
    `info ${basic}`,
    `info ${signed} --json`,
    `view ${basic}`,
    `copy g.zarr ${s3}`,
    `copy g.zarr h.zarr --json --scratch ${s3}`,
  ]) {
    const { stdout, stderr } = await run(line);
    expect(stdout + stderr).not.toContain(SECRET);
  }
});

describe("--header, and a query in the URL", () => {
  const folder = temporaryFolder();
  let [server, typed] = [undefined as unknown as ValueServer, new Shell("")];
  beforeAll(async () => {
    const array = { chunks: [2], dataType: "uint8", values: [1, 2, 3, 4, 5, 6] };
    server = await serveValues(await valuesIn(await given({ arrays: { "a.zarr": array } })), {
      isLetIn: ({ url, headers }) => url.endsWith(`?k=${SECRET}`) || headers["x-key"] === SECRET,
    });
    typed = new Shell(folder.path);
    writeFileSync(typed.at("headers"), `X-Key: ${SECRET}\n\nX-More: 1\n`);
    writeFileSync(typed.at("query"), `k=${SECRET}\n`);
  });
  afterAll(() => server.close());
  afterEach(() => void vi.unstubAllEnvs());

  /** Runs a command on the array, which shows no secret, neither in its output nor in a file. */
  async function run(line: string, ...words: readonly string[]) {
    const ran = await typed.run(line.replace("ARRAY", `${server.url}/a.zarr`), ...words);
    expect(ran.stdout + ran.stderr).not.toContain(SECRET);
    for (const [name, text] of filesBelow(typed.cwd))
      if (!["headers", "query"].includes(name)) expect(text, name).not.toContain(SECRET);
    return ran;
  }

  const QUERY = `?k=${SECRET}`;
  const header = ["--header", `X-Key: ${SECRET}`];

  it.each([
    ["--header", "", header],
    ["--header=", "", [`--header=X-Key:${SECRET}`]],
    ["--header @FILE", "", ["--header", "@headers"]],
    ["a query", QUERY, []],
  ])("%s let in info, tree, slice, digest, validate and diff", async (_, query, flags) => {
    for (const command of ["info", "tree", "digest", "validate"])
      expect([command, await run(`${command} ARRAY${query}`, ...flags)]).toMatchObject([
        command,
        { code: 0 },
      ]);
    const { stdout } = await run(`slice ARRAY${query} --format json`, ...flags);
    expect(JSON.parse(stdout)).toEqual([1, 2, 3, 4, 5, 6]);
    const url = `${server.url}/a.zarr${query}`;
    expect(await run(`diff ${url} ${url}`, ...flags)).toMatchObject({ code: 0 });
  });

  it("ZARRFLOW_HEADERS stands in the place of --header", async () => {
    vi.stubEnv("ZARRFLOW_HEADERS", `X-Key: ${SECRET}`);
    expect(await run("info ARRAY")).toMatchObject({ code: 0 });
  });

  it.each([
    ["headers", "", header],
    ["query", QUERY, []],
  ])("%s are in no report, trace, plan or error of copy", async (name, query, flags) => {
    const [from, to] = [`ARRAY${query}`, `${name}.zarr`];
    const files = ["--report", `${to}.html`, "--trace", `${to}.ndjson`, "--verify"];
    expect(await run(`copy ${from} ${to}`, ...flags, ...files)).toMatchObject({ code: 0 });
    expect(await typed.text(`${to}.html`)).toContain("***");
    expect(await open(typed.at(to))).toMatchObject({ kind: "array" });
    expect(await run(`copy ${from} dry.zarr --dry-run --json`, ...flags)).toMatchObject({ code: 0 });
    expect(await run(`rechunk ${from} ${to} --chunks 3`, ...flags)).toMatchObject({ code: 2 });
    const refuse = (response: ServerResponse) => Boolean(response.writeHead(418).end());
    server.faults.push(...Array.from({ length: 40 }, () => refuse));
    const failed = await run(`copy ${from} failed.zarr --json`, ...flags);
    server.faults.length = 0;
    expect(failed).toMatchObject({ code: 4 });
  });

  it.each([
    ["header", "", header, header, {}],
    ["query", QUERY, [], ["--query", `k=${SECRET}`], {}],
    ["file", QUERY, [], ["--query", "@query"], {}],
    ["ZARRFLOW_QUERY", QUERY, [], [], { ZARRFLOW_QUERY: QUERY }],
    ["ZARRFLOW_HEADERS", "", header, [], { ZARRFLOW_HEADERS: `X-Key: ${SECRET}` }],
  ])(
    "a plan is run with a %s, and says what is lacking without",
    async (how, query, made, flags, variables) => {
      const name = `plan-${how}`;
      const planned = await run(
        `plan rechunk ARRAY${query} ${name}.zarr --chunks 3 -o ${name}.json`,
        ...made,
      );
      expect(planned).toMatchObject({ code: 0 });
      const share = `run ${name}.json --task-index 0 --task-count 1`;
      const stderr = /must be passed again[\s\S]*(?:--header or ZARRFLOW_HEADERS|--query or ZARRFLOW_QUERY)/;
      expect(await run(share)).toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) });
      for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
      expect(await run(share, ...flags)).toMatchObject({ code: 0 });
      expect(await run(`finish ${name}.json`, ...flags)).toMatchObject({ code: 0 });
      vi.unstubAllEnvs();
      expect(await run(`slice ${name}.zarr --format json`)).toMatchObject({ stdout: "[1,2,3,4,5,6]\n" });
    },
  );

  it("completes no names behind a query", async () => {
    const before = server.requests.length;
    expect((await run(`completion names ARRAY/t${QUERY}/`)).stdout).toBe("");
    expect(server.requests).toHaveLength(before);
  });
});

describe("names, attributes and settings of others do nothing to a terminal", () => {
  /** What acts on terminals, or on the direction of writing: colors, titles, lines, C1 and bidi controls. */
  const HOSTILE = "a\u001b[31m\u009b2J\u0085\u202e\u2066\u2028z";
  const folder = temporaryFolder();
  let typed = new Shell("");

  beforeAll(async () => {
    typed = new Shell(folder.path);
    const attributes = { [HOSTILE]: HOSTILE, n: [HOSTILE] };
    const pair = { shape: [2], dtype: "<i4", items: Int32Array.of(1, 2) };
    const array = { ...pair, dimensions: [HOSTILE], attributes };
    await writeV2Group(typed.at("g.zarr"), { [HOSTILE]: array }, { [HOSTILE]: HOSTILE });
    writeFileSync(typed.at("g.zarr", HOSTILE, HOSTILE), "stray");
    const compressor = { id: HOSTILE, [HOSTILE]: HOSTILE };
    mkdirSync(typed.at("g.zarr/strange"));
    await writeV2Metadata(typed.at("g.zarr/strange"), {
      shape: [2],
      dtype: "<i4",
      dimensions: ["x"],
      compressor,
    });
    writeFileSync(typed.at("g.zarr/strange/0"), "x");
  });

  /** What acts on a terminal but for the ends of lines. */
  const actsIn = (text: string) =>
    (text.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu) ?? []).filter((character) => character !== "\n");

  it.each([
    "info g.zarr",
    "info g.zarr --json",
    "tree g.zarr",
    "tree g.zarr --json",
    "validate g.zarr --deep",
    "validate g.zarr --json",
    "diff g.zarr g.zarr/HOSTILE",
    "diff g.zarr none.zarr --json",
    "digest g.zarr/HOSTILE",
    "digest g.zarr/strange",
    "digest g.zarr/strange --json",
    "copy g.zarr HOSTILE.zarr --dry-run",
    "copy g.zarr HOSTILE.zarr --dry-run --json",
    "copy g.zarr HOSTILE-1.zarr",
    "copy g.zarr HOSTILE-2.zarr --json",
    "copy none-HOSTILE.zarr x.zarr",
    "copy none-HOSTILE.zarr x.zarr --json",
    "rechunk g.zarr y.zarr --chunks HOSTILE=1",
    "rechunk g.zarr/HOSTILE y.zarr --chunks 1 --dry-run",
    "slice g.zarr/HOSTILE --slice 0 --dry-run",
    "slice g.zarr/HOSTILE --output HOSTILE.npy --format npy",
    "HOSTILE",
    "copy --HOSTILE",
  ])("%s", async (line) => {
    const { stdout, stderr } = await typed.run(line.replaceAll("HOSTILE", HOSTILE));
    expect(stdout + stderr).not.toBe("");
    expect(actsIn(stdout + stderr)).toEqual([]);
  });

  it("nor do they in a report, which a browser shows; and JSON holds the same values", async () => {
    await typed.run(`copy g.zarr ${HOSTILE}-3.zarr --report report.html`);
    expect(actsIn(await typed.text("report.html"))).toEqual([]);
    const shown = { dimensionNames: [HOSTILE], attributes: { n: [HOSTILE] } };
    expect(await typed.json(`info g.zarr/${HOSTILE}`)).toMatchObject([shown]);
  });
});
