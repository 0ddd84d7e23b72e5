// @module-tag tools
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { dirname, join } from "node:path";
import httpServer from "http-server";
import serveHandler from "serve-handler";
import sirv from "sirv";
import { describe, expect, it } from "vitest";
import { HttpStore } from "../../../src/stores/http.ts";
import { keepsPromises, listening } from "../support.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Servers of files that people run, each with a folder behind it. */
const staticServers: Readonly<Record<string, (folder: string) => Server>> = {
  "serve-handler": (folder) => {
    const config = { public: folder, cleanUrls: false, directoryListing: false, etag: true };
    return createServer((request, response) => void serveHandler(request, response, config));
  },
  // Answers a suffix range with the first bytes.
  sirv: (folder) => createServer(sirv(folder, { dev: true, dotfiles: true })),
  // Refuses suffix ranges.
  "http-server": (folder) =>
    httpServer.createServer({ root: folder, cache: -1, showDir: "false", autoIndex: "false" }).server,
};

const value = Uint8Array.from({ length: 1000 }, (_, i) => i * 7);

// V2-83, V3-61
describe.each(Object.entries(staticServers))("a folder behind %s", (name, make) => {
  const folder = temporaryFolder();
  const serve = async (values: ReadonlyMap<string, Uint8Array>) => {
    const root = folder.next();
    mkdirSync(root, { recursive: true });
    for (const [key, bytes] of values) {
      mkdirSync(dirname(join(root, key)), { recursive: true });
      writeFileSync(join(root, key), bytes);
    }
    const server = make(root);
    const asked: string[] = [];
    server.prependListener("request", ({ method = "", headers }) => asked.push(headers.range ?? method));
    return { url: await listening(server), asked };
  };

  keepsPromises({ lists: false, filled: async (values) => new HttpStore((await serve(values)).url) });

  it("is read by range, and from its end in whatever way is true", async () => {
    const { url, asked } = await serve(new Map([["a/0", value]]));
    const store = new HttpStore(url);
    expect(await store.get("a/0", { range: { offset: 10, length: 5 } })).toEqual(value.slice(10, 15));
    for (let i = 0; i < 2; i++)
      expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(value.slice(-3));
    const suffixes =
      name === "serve-handler"
        ? ["bytes=-3", "bytes=-3"]
        : ["bytes=-3", "HEAD", "bytes=997-999", "HEAD", "bytes=997-999"];
    expect(asked).toEqual(["bytes=10-14", ...suffixes]);
  });
});
