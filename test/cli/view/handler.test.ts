// @module-tag slow

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveRequests } from "../../../src/cli/server/serve-requests.ts";
import { makeToken, viewHandler } from "../../../src/cli/view/handler.ts";
import { ViewedSource } from "../../../src/flows/view/viewed-source.ts";
import { testFolder } from "../../support/cli.ts";
import { given } from "../../support/given.ts";
import { COLUMNS, kelvinAt, ROWS, writeImage, writeSea } from "../../support/view-samples.ts";
import { deferred, statusOf } from "../server/asking.ts";

/** The address of a page about a source, with its token. */
async function served(url: string, options = {}): Promise<string> {
  const source = await ViewedSource.open(url, options);
  const token = makeToken();
  const failures: unknown[] = [];
  const server = await serveRequests(viewHandler(source, token), {
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(async () => {
    await server.close();
    await source.close();
    expect(failures).toEqual([]);
  });
  return `${server.url}${token}/`;
}

async function seaServed(): Promise<string> {
  const folder = await testFolder();
  await writeSea(folder);
  return served(join(folder, "sea.zarr"));
}

async function json(address: string, query: string): Promise<unknown> {
  return (await fetch(`${address}${query}`)).json();
}

interface Frame {
  readonly about: { readonly range?: readonly number[]; readonly missing: number; readonly size: number };
  readonly data: Float32Array | Float64Array;
}

async function values(address: string, path: string, cut: string): Promise<Frame> {
  const response = await fetch(`${address}values?path=${path}&cut=${cut}`);
  expect(response.status).toBe(200);
  const buffer = await response.arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const about = JSON.parse(Buffer.from(buffer, 4, length).toString());
  return { about, data: new (about.size === 4 ? Float32Array : Float64Array)(buffer, 4 + length) };
}

describe("who may ask", () => {
  it("is who knows the token, and names this server", async () => {
    const address = await seaServed();
    const { host, port, origin } = new URL(address);
    expect((await fetch(address)).status).toBe(200);
    expect(await statusOf(address, { headers: { host: `localhost:${port}` } })).toBe(200);
    const others = [`${origin}/`, `${origin}/tree`, `${origin}/wrong/`, `${address.slice(0, -2)}/tree`];
    for (const other of [...others, `${address}a/tree`])
      expect([other, (await fetch(other)).status]).toEqual([other, 403]);
    const names = ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1.evil.example:${port}`];
    for (const host of names)
      expect([host, await statusOf(address, { headers: { host } })]).toEqual([host, 403]);
    expect(await statusOf(`${address}tree`, { headers: { host }, method: "POST" })).toBe(405);
  });

  it("gets answers that no other page may use, and that load nothing from elsewhere", async () => {
    const address = await seaServed();
    for (const name of ["", "page.js", "page.css", "tree", "values?path=sst&cut=0:1:1,0:1:1,0:1:1"]) {
      const { headers } = await fetch(`${address}${name}`);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(Object.fromEntries(headers)).toMatchObject({
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("what the page asks for", () => {
  it("are the nodes, each with what is missing and how it is packed", async () => {
    const address = await seaServed();
    const groups = ["", "deep"].map((path) => ({ path, kind: "group" }));
    const flat = { path: "deep/flat", kind: "array", shape: [3, 4] };
    const paths = ["lat", "lon", "names", "sst", "time"].map((path) => ({ path }));
    expect(await json(address, "tree")).toMatchObject({ isCut: false, nodes: [...groups, flat, ...paths] });
    expect(await json(address, "node?path=sst")).toMatchObject({
      kind: "array",
      attributes: [
        ["scale_factor", "0.5"],
        ["add_offset", "270"],
        ["units", "K"],
        ["long_name", "<b>sea</b> temperature"],
      ],
      array: { missing: ["-1"], packing: "stored × 0.5 + 270", isDrawn: true, shape: [5, 6, 8] },
    });
    expect(await json(address, "node?path=names")).toMatchObject({ array: { isDrawn: false } });
  });

  it("are numbers as they mean, missing ones as NaN, in steps", async () => {
    const address = await seaServed();
    const { about, data } = await values(address, "sst", `2:1:1,0:1:${ROWS},1:2:${COLUMNS / 2}`);
    const expected = Array.from({ length: ROWS * (COLUMNS / 2) }, (_, i) =>
      kelvinAt(2, Math.floor(i / (COLUMNS / 2)), 1 + 2 * (i % (COLUMNS / 2))),
    );
    expect([...data]).toEqual(expected);
    expect(about).toMatchObject({ missing: 1, range: [280.5, 303.5] });
    const absent = await values(address, "sst", "4:1:1,0:1:6,0:1:8");
    expect(absent.about).toEqual({ missing: 48, size: 8 });
    const flat = await values(address, "deep/flat", "0:1:3,0:1:4");
    expect(flat.about).toEqual({ missing: 1, range: [0, 11], size: 4 });
    expect([...flat.data].slice(2, 6)).toEqual([2, Number.NaN, 4, Number.POSITIVE_INFINITY]);
  });

  it("are labels, where there is a coordinate", async () => {
    const address = await seaServed();
    expect(await json(address, "labels?path=sst&d=0&name=time&cut=1:2:2")).toEqual({
      coordinate: "time",
      labels: ["2024-06-02T00:00:00", "2024-06-04T00:00:00"],
    });
    expect(await json(address, "labels?path=sst&d=1&name=lat&cut=0:1:3")).toEqual({
      coordinate: "lat",
      units: "degrees_north",
      labels: [0, 10, 20],
    });
    expect(await json(address, "labels?path=deep/flat&d=0&name=nothing&cut=0:1:3")).toBeNull();
  });

  it("is a map of the chunks, with their bytes", async () => {
    expect(await json(await seaServed(), "chunks?path=sst")).toEqual({
      dimensions: [0, 1],
      grid: [5, 2, 1],
      rows: 5,
      columns: 2,
      perCell: [1, 1],
      others: 1,
      present: [1, 1, 1, 1, 1, 1, 1, 1, 0, 0],
      bytes: [48, 48, 48, 48, 48, 48, 48, 48, 0, 0],
      chunksPresent: 8,
      storedBytes: 384,
    });
  });

  it("is an image, with its levels and channels", async () => {
    const folder = await testFolder();
    await writeImage(folder);
    const address = await served(join(folder, "image.zarr"));
    expect(await json(address, "node?path=")).toMatchObject({
      image: {
        axes: [{ name: "c" }, { name: "y" }, { name: "x" }],
        levels: [{ path: "0", shape: [2, 6, 8], scale: [1, 0.5, 0.5] }, { path: "1" }],
        channels: [
          { label: "red", color: "FF0000", window: [0, 47], isActive: true },
          { label: "green", color: "00FF00", window: [48, 95] },
        ],
      },
    });
  });

  const outside = "this part is outside the array";
  it.each([
    ["values?path=sst&cut=0:1:1", 422, outside],
    ["values?path=sst&cut=0:1:6,0:1:6,0:1:8", 422, outside],
    ["values?path=sst&cut=-1:1:1,0:1:6,0:1:8", 422, outside],
    ["values?path=sst&cut=0:1:1,0:1:x,0:1:8", 422, outside],
    ["values?path=names&cut=0:1:3", 422, "values of string are not numbers"],
    ["values?path=deep&cut=0:1:1", 404, "this is a group"],
    ["node?path=nothing", 404, "no array or group at `nothing`"],
    ["node?path=../sea.zarr", 422, ""],
    ["labels?path=sst&d=7&name=time&cut=0:1:1", 422, outside],
  ])("is refused where it is not there: %s", async (query, status, message) => {
    const response = await fetch(`${await seaServed()}${query}`);
    expect(response.status).toBe(status);
    expect((await response.json()).message).toContain(message);
  });
});

describe("a large array", () => {
  it("gives pictures of a bounded size only", async () => {
    const folder = await testFolder();
    const grid = { shape: [3000, 3000], chunks: [1000, 1000] };
    await given({ at: join(folder, "large.zarr"), ...grid, dataType: "uint8", fillValue: 7, values: null });
    const address = await served(join(folder, "large.zarr"));
    const { data, about } = await values(address, "", "0:3:1000,0:3:1000");
    expect(data).toHaveLength(1e6);
    expect(about).toEqual({ missing: 0, range: [7, 7], size: 4 });
    const response = await fetch(`${address}values?path=&cut=0:1:3000,0:1:3000`);
    expect(response.status).toBe(422);
    expect((await response.json()).message).toContain("too many items for one picture");
  });

  it("is not read on when nobody waits for it any more", async () => {
    const folder = await testFolder();
    await writeSea(folder);
    let asked = 0;
    const { promise: second, resolve: held } = deferred<ServerResponse>();
    const files = createServer(async ({ url = "" }, response) => {
      if (/\/sst\/\d/.test(url) && ++asked === 2) return held(response);
      const bytes = await readFile(join(folder, url)).catch(() => undefined);
      response.writeHead(bytes ? 200 : 404).end(bytes);
    });
    await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void files.close());
    const { port } = files.address() as AddressInfo;
    const address = await served(`http://127.0.0.1:${port}/sea.zarr`, { concurrency: 1 });
    const abort = new AbortController();
    const reading = fetch(`${address}values?path=sst&cut=0:1:4,0:1:6,0:1:8`, { signal: abort.signal });
    const response = await second;
    const abandoned = once(response, "close");
    abort.abort();
    await expect(reading).rejects.toThrow();
    await abandoned;
    const next = await values(address, "sst", "3:1:1,5:1:1,0:1:8");
    expect([...next.data]).toEqual(Array.from({ length: 8 }, (_, c) => kelvinAt(3, 5, c)));
    expect(asked).toBe(3);
  });
});
