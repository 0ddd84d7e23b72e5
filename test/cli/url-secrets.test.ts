// @module-tag slow
// @module-tag sampled

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { retryText } from "../../src/cli/progress/retry-log.ts";
import { planPage } from "../../src/cli/report/page.ts";
import { failureText } from "../../src/cli/text/failure.ts";
import { toJson } from "../../src/cli/text/json.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run/run-flow.ts";
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
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { oneIn } from "../support/samples.ts";

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
  const found: unknown[] = [];
  try {
    const answer = await run();
    if (answer && typeof answer === "object" && Symbol.asyncIterator in answer)
      for await (const one of answer as AsyncIterable<unknown>) found.push(one);
    else if (Array.isArray(answer)) found.push(...answer);
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
      const files = () =>
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(
            ({ parentPath, name }) =>
              `${join(parentPath, name)} ${readFileSync(join(parentPath, name), "latin1")}`,
          );
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
      const text = shown.map(
        (one) => `${inspect(one, { depth: 20 })}${toJson(JSON.parse(JSON.stringify(one)))}`,
      );
      expect(text.join("\n")).not.toContain(SECRET);
      expect(text.join("\n")).toContain("retry");
    },
  );
});

describe("the command", () => {
  it("names no credentials in errors, in JSON or in a report", async () => {
    const cwd = await testFolder();
    await copy(await source, join(cwd, "g.zarr"));
    for (const args of [
      ["info", URLS[0] ?? ""],
      ["info", URLS[2] ?? "", "--json"],
      ["copy", "g.zarr", URLS[7] ?? ""],
      ["copy", "g.zarr", "h.zarr", "--scratch", URLS[7] ?? "", "--json"],
    ]) {
      const { stdout, stderr } = await runHere(cwd, ...args);
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });
});
