import { afterEach, describe, expect, it } from "vitest";
import { open } from "../../src/hierarchy/open/open.ts";
import { walk } from "../../src/hierarchy/open/walk.ts";
import { openArray, openGroup } from "../../src/index.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { S3Store } from "../../src/stores/s3.ts";
import { ACCESS_KEY, BUCKET, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";
import { serveValues } from "../stores/value-server.ts";
import { all, valuesIn } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const CHUNKS = 100_000;
const ARRAYS = ["a/t", "a/u", "a/v", "b/t", "b/u", "b/v", "b/w", "z"];

/** A hierarchy of groups and arrays: its documents. */
async function documentsOf(zarrFormat: "v2" | "v3"): Promise<Map<string, Uint8Array>> {
  const grid = { shape: [CHUNKS / ARRAYS.length], chunks: [1], dataType: "int8" };
  const array: GivenArray = { ...grid, attributes: { units: "K" }, values: null };
  const arrays = Object.fromEntries(ARRAYS.map((path) => [path, array]));
  return valuesIn(await given({ zarrFormat, arrays }));
}

async function pathsBelow(group: Awaited<ReturnType<typeof openGroup>>): Promise<string[]> {
  return (await all(walk(group))).map(({ path }) => path);
}

describe.each(["v2", "v3"] as const)("the nodes of a hierarchy of %s", (zarrFormat) => {
  it("with 100,000 chunks are listed in S3 by three requests a node, and no chunk is listed", {
    timeout: 120_000,
  }, async () => {
    const server = await serveBucket();
    closing.push(() => server.close());
    for (const [key, bytes] of await documentsOf(zarrFormat)) server.objects.set(key, Buffer.from(bytes));
    const chunk = Buffer.from([1]);
    for (const path of ARRAYS) {
      for (let i = 0; i < CHUNKS / ARRAYS.length; i++) {
        server.objects.set(`${path}/${zarrFormat === "v2" ? i : `c/${i}`}`, chunk);
      }
    }
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const store = new S3Store({ bucket: BUCKET, endpoint: server.endpoint, credentials });
    const paths = await pathsBelow(await openGroup(store));
    expect(paths).toHaveLength(ARRAYS.length + 2);
    expect(server.requests.length).toBeLessThanOrEqual(3 * (paths.length + 1));
    expect(server.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("come over HTTP with consolidated metadata, in a request beyond those of the root", async () => {
    const documents = await documentsOf(zarrFormat);
    const json = (key: string) => JSON.parse(new TextDecoder().decode(documents.get(key)));
    const below = Object.fromEntries([...documents.keys()].map((key) => [key, json(key)]));
    if (zarrFormat === "v2") {
      set(documents, ".zmetadata", { zarr_consolidated_format: 1, metadata: below });
    } else {
      const { "zarr.json": root, ...others } = below;
      const metadata = Object.fromEntries(
        Object.entries(others).map(([key, document]) => [key.replace(/\/zarr\.json$/, ""), document]),
      );
      const consolidated_metadata = { kind: "inline", must_understand: false, metadata };
      set(documents, "zarr.json", { ...root, consolidated_metadata });
    }
    const server = await serveValues(documents);
    closing.push(() => server.close());
    const root = await openGroup(new HttpStore(server.url));
    expect(server.requests).toHaveLength(zarrFormat === "v2" ? 3 : 1);
    expect(await pathsBelow(root)).toHaveLength(ARRAYS.length + 2);
    expect(server.requests).toHaveLength(zarrFormat === "v2" ? 4 : 1);
  });

  it("are opened over HTTP by one request, or three of v2, four if it may be a group, of documents alone", async () => {
    const server = await serveValues(await documentsOf(zarrFormat));
    closing.push(() => server.close());
    const keys = (folder: string) =>
      server.requests.splice(0).map(({ url }) => url.replace(`/data/${folder}`, ""));
    await openArray(`${server.url}/a/t`);
    expect(keys("a/t/")).toEqual(zarrFormat === "v2" ? ["zarr.json", ".zarray", ".zattrs"] : ["zarr.json"]);
    expect((await open(`${server.url}/a/t`)).kind).toBe("array");
    expect(keys("a/t/")).toEqual(
      zarrFormat === "v2" ? ["zarr.json", ".zarray", ".zgroup", ".zattrs"] : ["zarr.json"],
    );
    await openGroup(`${server.url}/a`);
    expect(keys("a/")).toEqual(zarrFormat === "v2" ? ["zarr.json", ".zgroup", ".zattrs"] : ["zarr.json"]);
    const stage = zarrFormat === "v2" ? "zarr2" : "zarr3";
    await open(`${server.url}|${stage}:a/t`);
    expect(server.requests.length).toBe(zarrFormat === "v2" ? 3 : 1);
  });
});

function set(documents: Map<string, Uint8Array>, key: string, json: unknown): void {
  documents.set(key, new TextEncoder().encode(JSON.stringify(json)));
}
