// @module-tag long
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { dist, requireBuild } from "../built-package.ts";
import { testFolder } from "../support/cli.ts";

beforeAll(requireBuild);

const ARRAYS = 100;

/** Reads and writes many arrays by one signal, at one time and one after the other, and prints who still listens to it. */
const PROGRAM = `
import { getEventListeners } from "node:events";
import { convert, copy, createGroup, diff, digest, rechunk, slice, validate } from "${pathToFileURL(join(dist, "index.js")).href}";
import { MemoryStore } from "${pathToFileURL(join(dist, "stores/memory.js")).href}";

const { signal } = new AbortController();
const group = await createGroup("source.zarr", {}, { signal });
for (let i = 0; i < ${ARRAYS}; i++) {
  const array = await group.create("a" + i, { shape: [8, 8], chunks: [4, 4], dataType: "uint8" });
  await array.write({}, new Uint8Array(64).fill(1));
  await array.close();
}
await group.close();
const urls = Array.from({ length: ${ARRAYS} }, (_, i) => "source.zarr/a" + i);
const drain = async (stream) => {
  for await (const _ of stream);
};
const options = { signal };
await drain(digest("source.zarr", options));
await Promise.all(urls.map((url) => slice(url, {}, options).read()));
await Promise.all(urls.map((url) => drain(slice(url, {}, options).bytes())));
await Promise.all(urls.map((url) => drain(slice(url, {}, options).chunks())));
await Promise.all(urls.map((url, i) => rechunk(url, "rechunked.zarr/a" + i, { ...options, chunks: [8, 2] })));
await Promise.all(urls.map((url) => copy(url, new MemoryStore(), { ...options, codec: "gzip" })));
await copy("source.zarr", "copy.zarr", { ...options, codec: "gzip" });
await copy("source.zarr", "copy.zarr", { ...options, ifExists: "update" }).catch(() => {});
await convert("source.zarr", "v2.zarr", { ...options, to: "v2" });
await drain(diff("source.zarr", "v2.zarr", options));
await drain(validate("source.zarr", { ...options, deep: true }));
console.log(getEventListeners(signal, "abort").length);
`;

test("many arrays share a signal, and no runtime warns of it", async () => {
  const cwd = await testFolder();
  const program = ["--trace-warnings", "--input-type=module", "-e", PROGRAM];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { cwd, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(Number(stdout)).toBeLessThanOrEqual(1);
});
