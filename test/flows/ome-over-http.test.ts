// @module-tag slow
import { afterEach, describe, expect, test } from "vitest";
import { convert, copy, diff, digest, type FlowEvent, info, sliceTo, tree } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { all, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { makeImage } from "../support/ome-images.ts";

const servers: ValueServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** The keys of a store below a URL of a server that lists nothing. */
async function serve(store: MemoryStore, below = "image.zarr"): Promise<string> {
  const values = new Map<string, Uint8Array>();
  for (const [key, value] of await valuesIn(store)) values.set(`${below}/${key}`, value);
  const server = await serveValues(values);
  servers.push(server);
  return `${server.url}/${below}`;
}

const recipe = {
  axes: ["c", "y", "x"],
  shapes: [
    [2, 12, 14],
    [2, 6, 7],
  ],
  labels: ["cells"],
} as const;

describe.each(["v2", "v3"] as const)(
  "an image of Zarr %s at a URL of a server that lists nothing",
  (zarrFormat) => {
    test("is shown as a tree, described and digested", async () => {
      const store = await makeImage({ ...recipe, zarrFormat });
      const url = await serve(store);
      const paths = (await all(tree(url))).map(({ path }) => path);
      expect(paths).toEqual(["", "0", "1", "labels", "labels/cells", "labels/cells/0", "labels/cells/1"]);
      expect((await all(info(url))).map(({ path }) => path)).toEqual([
        "0",
        "1",
        "labels/cells/0",
        "labels/cells/1",
      ]);
      expect(await all(digest(url))).toEqual(await all(digest(store)));
    });

    test("is copied, key by key the same", async () => {
      const store = await makeImage({ ...recipe, zarrFormat });
      const target = new MemoryStore("copied");
      await copy(await serve(store), target);
      expect(await valuesIn(target)).toEqual(await valuesIn(store));
    });

    test("is converted and cut", async () => {
      const store = await makeImage({ ...recipe, zarrFormat });
      const url = await serve(store);
      const [converted, expected] = [new MemoryStore("converted"), new MemoryStore("expected")];
      const to = zarrFormat === "v2" ? "v3" : "v2";
      await convert(url, converted, { to });
      await convert(store, expected, { to });
      expect(await valuesIn(converted)).toEqual(await valuesIn(expected));
      const [cut, cutHere] = [new MemoryStore("cut"), new MemoryStore("cut here")];
      await sliceTo(`${url}/labels/cells/0`, cut, { slice: [[2, 6]] });
      await sliceTo({ store, path: "labels/cells/0" }, cutHere, { slice: [[2, 6]] });
      expect(await all(diff(cut, cutHere))).toEqual([]);
    });
  },
);

test("a copy of a collection says that files beside its nodes are not found", async () => {
  const groups = { OME: { attributes: { series: [] } } };
  const attributes = { "bioformats2raw.layout": 3 };
  const store = await given({ at: new MemoryStore("collection"), zarrFormat: "v2", attributes, groups });
  await store.set("OME/METADATA.ome.xml", new TextEncoder().encode("<OME/>"));
  const warnings: string[] = [];
  const onEvent = (event: FlowEvent) => {
    if (event.type === "warning") warnings.push(event.message);
  };
  await copy(store, new MemoryStore("listed"), { onEvent });
  expect(warnings).toEqual([]);
  await copy(await serve(store), new MemoryStore("copied"), { onEvent });
  expect(warnings).toEqual([expect.stringContaining("METADATA.ome.xml")]);
});
