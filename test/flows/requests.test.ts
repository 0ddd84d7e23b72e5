import { afterEach, expect, it } from "vitest";
import { copy, create, rechunk } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { serveValues } from "../stores/value-server.ts";

afterEach(() => nameMemoryStore("counted", undefined));

/** Which format it is, and its attributes, are asked for at once. */
const OPENING = 5;

/** Whether the document is still as it was. */
const CLOSING = 1;

it.each([
  ["copy", copy, {}],
  ["rechunk", rechunk, { chunks: [4] }],
] as const)("%s asks a web server for each chunk once, and for few documents", async (_, flow, how) => {
  const store = new MemoryStore();
  const array = await create(store, { shape: [8], chunks: [2], dataType: "uint8", codec: "none" });
  await array.write({}, [1, 2, 3, 4, 5, 6, 7, 8]);
  await array.close();
  const values = new Map<string, Uint8Array>();
  for await (const { key } of store.list("")) values.set(key, (await store.get(key)) ?? new Uint8Array());
  const server = await serveValues(values);
  await flow(server.url, "memory:counted", how as never);
  const keys = server.requests.map(({ method, url }) => `${method} ${url.replace("/data/", "")}`);
  expect(keys.filter((key) => key.includes("c/")).sort()).toEqual([
    "GET c/0",
    "GET c/1",
    "GET c/2",
    "GET c/3",
  ]);
  expect(keys.length - 4).toBe(OPENING + CLOSING);
  await server.close();
});
