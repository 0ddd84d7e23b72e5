// @module-tag tools
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { HttpStore } from "../../../src/stores/http.ts";
import { storeChecks } from "../../../src/stores/testing.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type ListeningServer, listen, staticServers } from "./static-servers.ts";

const value = Uint8Array.from({ length: 1000 }, (_, i) => i * 7);

// V2-83, V3-61
describe.each(Object.entries(staticServers))("a folder behind %s", (name, make) => {
  const folder = temporaryFolder();
  const servers: ListeningServer[] = [];
  const serve = async (values: ReadonlyMap<string, Uint8Array>) => {
    const root = folder.next();
    for (const [key, bytes] of values) {
      mkdirSync(dirname(join(root, key)), { recursive: true });
      writeFileSync(join(root, key), bytes);
    }
    mkdirSync(root, { recursive: true });
    const server = await listen(make(root));
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  const filled = async (values: ReadonlyMap<string, Uint8Array>) => new HttpStore((await serve(values)).url);
  for (const { name, run } of storeChecks({ lists: false, filled })) it(name, () => run());

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
