import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
};

export interface PageServer {
  readonly url: string;
  /** The paths of the requests so far, and the bytes of the answers. */
  readonly requests: { readonly path: string; readonly bytes: number }[];
  close(): Promise<void>;
}

export interface PageServerOptions {
  /** Sent with every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a path is answered with in place of the file of that name. */
  readonly answer?: (path: string) => Promise<{ readonly type: string; readonly body: string } | undefined>;
}

/** Serves the files of a folder on this machine, with ranges, and writes those that are put; `/` is an empty page. */
export async function servePages(
  folder: string,
  { headers = {}, answer }: PageServerOptions = {},
): Promise<PageServer> {
  const requests: PageServer["requests"] = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://server").pathname);
    try {
      if (request.method === "PUT") {
        await pipeline(request, createWriteStream(join(folder, path)));
        response.writeHead(204, headers).end();
        return;
      }
      const made =
        path === "/" ? { type: TYPES[".html"] ?? "", body: "<!doctype html>" } : await answer?.(path);
      const whole = made ? Buffer.from(made.body) : await readFile(join(folder, path));
      const type = made?.type ?? TYPES[extname(path)] ?? "application/octet-stream";
      const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
      const start = first ? Number(first) : whole.length - Number(last);
      const end = first && last ? Math.min(Number(last) + 1, whole.length) : whole.length;
      const isPart = first !== undefined;
      const body = isPart ? whole.subarray(start, end) : whole;
      requests.push({ path, bytes: request.method === "HEAD" ? 0 : body.length });
      response.writeHead(isPart ? 206 : 200, {
        ...headers,
        "content-type": type,
        "content-length": body.length,
        ...(isPart && { "content-range": `bytes ${start}-${end - 1}/${whole.length}` }),
      });
      response.end(request.method === "HEAD" ? undefined : body);
    } catch {
      requests.push({ path, bytes: 0 });
      response.writeHead(404, headers).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
