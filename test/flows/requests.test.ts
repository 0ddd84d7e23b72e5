import { afterEach, expect, it } from "vitest";
import { copy, rechunk } from "../../src/index.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import { serveValues } from "../stores/value-server.ts";
import { valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";

afterEach(() => nameMemoryStore("counted", undefined));

/** Which format it is, and its attributes, are asked for at once. */
const OPENING = 5;

/** Whether the document is still as it was. */
const CLOSING = 1;

it.each([
  ["copy", copy, {}],
  ["rechunk", rechunk, { chunks: [4] }],
] as const)("%s asks a web server for each chunk once, and for few documents", async (_, flow, how) => {
  const array = { shape: [8], chunks: [2], dataType: "uint8", codec: "none", values: (i: number) => i + 1 };
  const server = await serveValues(await valuesIn(await given(array)));
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
