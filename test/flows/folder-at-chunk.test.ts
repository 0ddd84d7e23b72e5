// @module-tag sampled
// @module-tag slow
import fs from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { estimateCopy } from "../../src/flows/estimate-copy.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import {
  copy,
  diff,
  digest,
  open,
  openArray,
  rechunk,
  slice,
  sliceTo,
  validate,
  writeRegion,
  type ZarrArray,
} from "../../src/index.ts";
import type { DataTypeName } from "../../src/meta/data-type-name.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import type { WritableStore } from "../../src/stores/store.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, drain } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";
import { someOf } from "../support/samples.ts";

const folder = temporaryFolder();
const REFUSED = { code: "corrupt-store" };

/** A zip of what is in a folder, with entries for empty folders. */
async function zipOf(root: string): Promise<string> {
  const zip = new ZipFile();
  for (const name of fs.readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const path = join(root, name);
    if (fs.statSync(path).isFile()) zip.addFile(path, name);
    else if (fs.readdirSync(path).length === 0) zip.addEmptyDirectory(name);
  }
  zip.end();
  await pipeline(zip.outputStream, fs.createWriteStream(`${root}.zip`));
  return `${root}.zip`;
}

/** Puts a folder in place of what is at a path, empty or with a file in it. */
function putFolder(path: string, isFilled = false): void {
  fs.rmSync(path, { force: true });
  fs.mkdirSync(path, { recursive: true });
  if (isFilled) fs.writeFileSync(join(path, "file"), "");
}

const ARRAYS = [
  ["v2 with dots", "0.1", { zarrFormat: "v2" }],
  ["v2 with slashes", "0/1", { zarrFormat: "v2", separator: "/" }],
  ["v3", "c/0/1", {}],
  ["v3 with shards", "c/0/1", { chunks: [2, 2], shards: [4, 4] }],
] as const;
const FOLDERS = [
  ["an empty one", "directory"],
  ["one with a file", "directory"],
  ["an empty one", "zip"],
  ["one with a file", "zip"],
] as const;
const grid = { shape: [8, 8], chunks: [4, 4], dataType: "uint8" };

describe.each(ARRAYS.map((one, i) => [...one, i] as const))(
  "a folder at the key of a chunk of %s",
  (_, key, how, i) => {
    const arrayAt = (values: GivenArray["values"]) => given({ at: folder.next(), ...grid, ...how, values });

    it.each(someOf(FOLDERS, 2, i))(
      "%s, in a %s, is an error for every flow, and for validate",
      async (what, kind) => {
        const root = await arrayAt(() => 5);
        const [good, target] = [`${root}-good`, `${root}-target`];
        fs.cpSync(root, good, { recursive: true });
        putFolder(join(root, key), what === "one with a file");
        const source = kind === "zip" ? await zipOf(root) : root;
        const flows: Record<string, () => Promise<unknown>> = {
          "slice, chunks": () => drain(slice(source).chunks()),
          "slice, bytes": () => drain(slice(source).bytes()),
          digest: () => drain(digest(source)),
          copy: () => copy(source, target),
          "copy --dry-run": async () => estimateCopy(await planFlow(source, target)),
          "copy --codec": () => copy(source, target, { codec: "gzip" }),
          rechunk: () => rechunk(source, target, { chunks: [8, 2] }),
          sliceTo: () => sliceTo(source, target, { slice: "0:8,0:8" }),
        };
        for (const [name, flow] of Object.entries(flows)) {
          await expect(flow(), name).rejects.toMatchObject(REFUSED);
          expect(fs.existsSync(target), name).toBe(false);
        }
        await expect(slice(source).read()).rejects.toMatchObject({
          ...REFUSED,
          details: { key, coords: [0, expect.any(Number)], hint: expect.stringMatching(/\.$/) },
        });
        expect((await all(diff(good, source))).map(({ what, path }) => `${what} ${path}`)).toContain(
          "broken ",
        );
        await copy(good, target);
        await expect(copy(source, target, { ifExists: "update" })).rejects.toMatchObject(REFUSED);

        const errorsOf = async (...of: Parameters<typeof validate>) =>
          (await all(validate(...of))).filter(({ level }) => level === "error");
        for (const options of [{}, { deep: true }, { fix: true }, { fix: true, dryRun: true }])
          expect(await errorsOf(source, options)).toMatchObject([{ what: "unreadable", path: "", key }]);
        expect(await errorsOf(good)).toEqual([]);
      },
    );

    it("is an error for a write that has to read it", async () => {
      const root = await arrayAt(null);
      putFolder(join(root, key));
      const array = (await openArray(new DirectoryStore(root))) as ZarrArray<DataTypeName, WritableStore>;
      const writing = writeRegion(array, [1, 5], new Uint8Array(1));
      await expect(writing).rejects.toMatchObject(REFUSED);
    });
  },
);

it("a folder at the key of one of many missing chunks is an error", async () => {
  const root = await given({
    at: folder.next(),
    shape: [3000],
    chunks: [1],
    dataType: "uint8",
    values: null,
  });
  putFolder(join(root, "c/2500"));
  await expect(drain(digest(root))).rejects.toMatchObject(REFUSED);
});

it("a folder where no chunk is, and nodes named as documents, are none", async () => {
  const array = { ...grid, values: null };
  const root = await given({ at: folder.next(), zarrFormat: "v2", arrays: { meta: array, attrs: array } });
  for (const name of ["0", "0.0.0", "9.9", "notes"]) putFolder(join(root, "meta", name));
  await drain(digest(root));
  for await (const { level, message } of validate(root)) expect(level, message).not.toBe("error");
  await copy(root, `${root}-copy`);
  expect((await open(`${root}-copy/attrs`)).kind).toBe("array");
  // as a document of v1
  const v3 = await given({ at: folder.next(), arrays: { meta: array } });
  expect((await openArray(join(v3, "meta"))).shape).toEqual([8, 8]);
  await drain(digest(v3));
});

describe.each([
  ["v2", "a/.zarray"],
  ["v2", "a/.zattrs"],
  ["v2", ".zgroup"],
  ["v3", "a/zarr.json"],
  ["v3", "zarr.json"],
] as const)("a folder at the key of a document of %s, %s,", (zarrFormat, key) => {
  it.each(["directory", "zip"])("in a %s, is an error for every flow", async (kind) => {
    const a = { ...grid, attributes: { units: "K" }, values: () => 1 };
    const root = await given({ at: folder.next(), zarrFormat, arrays: { a } });
    putFolder(join(root, key));
    const source = kind === "zip" ? await zipOf(root) : root;
    const target = `${root}-target`;
    const flows: Record<string, () => Promise<unknown>> = {
      open: () => open(key.includes("/") ? `${source}/a` : source),
      copy: () => copy(source, target),
      "copy --to": () => copy(source, target, { to: zarrFormat === "v2" ? "v3" : "v2" }),
      "copy --codec": () => copy(source, target, { codec: "gzip" }),
      digest: () => drain(digest(source)),
    };
    const found = { ...REFUSED, details: { key: expect.stringMatching(`(^|/)${basename(key)}$`) } };
    for (const [name, flow] of Object.entries(flows)) await expect(flow(), name).rejects.toMatchObject(found);
    expect(fs.existsSync(target)).toBe(false);
  });
});
