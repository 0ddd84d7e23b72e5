// A custom store that reads over HTTP. Reading needs only `get`; `size` avoids reading a value to find its size.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { defineStore, openArray, rechunk } from "zarrflow";
import { makeInput } from "./make-input.ts";

function httpStore(url: string) {
  const read = async (key: string, init: RequestInit): Promise<Response | undefined> => {
    const response = await fetch(`${url}/${key}`, init);
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${response.status} for ${key}`);
    return response;
  };
  return defineStore({
    description: url,
    async get(key, { signal }) {
      const response = await read(key, { signal: signal ?? null });
      return response && new Uint8Array(await response.arrayBuffer());
    },
    async size(key, { signal }) {
      const response = await read(key, { method: "HEAD", signal: signal ?? null });
      return response && Number(response.headers.get("content-length"));
    },
  });
}

const folder = await makeInput();
const server = createServer(async ({ url = "/" }, response) => {
  const bytes = await readFile(join(folder, decodeURIComponent(url))).catch(() => undefined);
  response.writeHead(bytes ? 200 : 404, { "content-length": bytes?.length ?? 0 }).end(bytes);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

const t2m = await openArray({ store: httpStore(`http://127.0.0.1:${port}/era5.zarr`), path: "t2m" });
const report = await rechunk(t2m, join(folder, "t2m.zarr"), {
  chunks: { time: -1, latitude: 11, longitude: 7 },
});
console.log(
  `${report.chunksRead} chunks over HTTP, ${report.chunksWritten} written to ${t2m.shape.join(" x ")}`,
);
server.close();
server.closeAllConnections();
