import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { bundleForBrowsers } from "../../support/browser-bundle.ts";

type Request = { readonly method: string; readonly headers: Headers; readonly mode: RequestMode };

const VALUE = Uint8Array.from({ length: 100 }, (_, i) => i);

beforeEach(() => vi.resetModules());
// modules that took this for a page are nothing for the files that follow
afterEach(() => void vi.unstubAllGlobals().resetModules());

/** A store as a page of `origin` opens it, whose requests `answer` answers. */
async function openFromPage(
  origin: string,
  url: string,
  answer: (request: Request) => Response | Promise<Response>,
) {
  const requests: Request[] = [];
  vi.stubGlobal("document", {});
  vi.stubGlobal("location", new URL(origin));
  vi.stubGlobal("fetch", async (_: URL, { method = "GET", headers, mode = "cors" }: RequestInit) => {
    const request = { method, headers: new Headers(headers), mode };
    requests.push(request);
    return answer(request);
  });
  const { HttpStore } = await import("../../../src/stores/http.ts");
  return {
    store: new HttpStore(url, { fetch: (...request) => fetch(...request), retry: { attempts: 1 } }),
    requests,
  };
}

function serve({ method, headers }: Request): Response {
  const size = { "content-length": String(VALUE.length), etag: '"v1"' };
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d+)$/.exec(headers.get("range") ?? "") ?? [];
  if (method === "HEAD" || last === "")
    return new Response(method === "HEAD" ? null : VALUE, { headers: size });
  const start = first === "" ? VALUE.length - Number(last) : Number(first);
  const part = VALUE.subarray(start, first === "" ? VALUE.length : Number(last) + 1);
  const range = `bytes ${start}-${start + part.length - 1}/${VALUE.length}`;
  return new Response(part, { status: 206, headers: { "content-range": range, etag: '"v1"' } });
}

it("asks another server for nothing that a browser asks leave for first", async () => {
  const { store, requests } = await openFromPage("https://page.test", "https://data.test/a.zarr", serve);
  let version = "";
  const options = { range: { suffix: 8 }, onVersion: (seen: string) => (version = seen) };
  expect(await store.get("c/0", options)).toEqual(VALUE.subarray(92));
  await store.get("c/0", { range: { offset: 4, length: 4 }, ifVersion: version });
  const asked = requests.map(({ method, headers }) => `${method} ${headers.get("range")}`);
  expect(asked).toEqual(["HEAD null", "GET bytes=92-99", "GET bytes=4-7"]);
  for (const { headers } of requests) expect(headers.get("if-match")).toBeNull();
});

it("asks its own server for the last bytes in one request", async () => {
  const { store, requests } = await openFromPage("https://data.test", "https://data.test/a.zarr", serve);
  expect(await store.get("c/0", { range: { suffix: 8 } })).toEqual(VALUE.subarray(92));
  expect(requests.map(({ headers }) => headers.get("range"))).toEqual(["bytes=-8"]);
});

it.each([
  ["a server that is away", "https://page.test", "https://data.test/a.zarr", "transient"],
  ["the page's own server", "https://data.test", "https://data.test/a.zarr", "transient"],
  ["http from a page served by https", "https://page.test", "http://data.test/a.zarr", "access-denied"],
])("tells the failure of %s", async (_, origin, url, code) => {
  const { store } = await openFromPage(origin, url, () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(store.get("zarr.json")).rejects.toMatchObject({ code });
});

it("says that a server does not allow the page to read, which browsers do not", async () => {
  const onlyWithoutCors = async ({ mode }: Request) => {
    if (mode === "no-cors") return new Response();
    throw new TypeError("Failed to fetch");
  };
  const place = ["https://page.test", "https://data.test/a.zarr"] as const;
  const { store, requests } = await openFromPage(...place, onlyWithoutCors);
  await expect(store.get("zarr.json")).rejects.toMatchObject({
    code: "access-denied",
    details: {
      expected: "Access-Control-Allow-Origin: https://page.test",
      hint: expect.stringContaining("Configure CORS on https://data.test"),
    },
  });
  expect(requests.map(({ method, mode }) => `${method} ${mode}`)).toEqual(["GET cors", "HEAD no-cors"]);
});

it("a bundle for browsers that reads over HTTP needs nothing of Node", async () => {
  const modules = [
    "http",
    "with/cache",
    "with/merged-ranges",
    "with/rate-limit",
    "with/retry",
    "with/zarrita",
  ];
  const chunks = await bundleForBrowsers(modules.map((name) => `stores/${name}`));
  expect(chunks.filter(({ isEntry }) => isEntry)).toHaveLength(modules.length);
  const outside = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const own = chunks.map(({ fileName }) => fileName);
  expect(outside.filter((name) => !own.includes(name))).toEqual([]);
});
