// @module-tag sampled
// @module-tag slow
import fs from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { estimateCopy } from "../../src/flows/keys/estimate-copy.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import {
  copy,
  create,
  createGroup,
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
import { given } from "../support/given.ts";
import { someOf } from "../support/samples.ts";

const folder = temporaryFolder();
const REFUSED = { code: "corrupt-store" };

const ARRAYS = {
  "v2 with dots": { key: "0.1", zarrFormat: "v2" },
  "v2 with slashes": { key: "0/1", zarrFormat: "v2", separator: "/" },
  v3: { key: "c/0/1", zarrFormat: "v3" },
  "v3 with shards": { key: "c/0/1", zarrFormat: "v3", chunks: [2, 2], shards: [4, 4] },
} as const;

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

const FOLDERS = [
  ["an empty one", "directory", false],
  ["one with a file", "directory", true],
  ["an empty one", "zip", false],
  ["one with a file", "zip", true],
] as const;

describe.each(Object.entries(ARRAYS))("a folder at the key of a chunk of %s", (name, { key, ...how }) => {
  describe.each(someOf(FOLDERS, 2, Object.keys(ARRAYS).indexOf(name)))(
    "%s, in a %s",
    (_name, kind, isFilled) => {
      let source: string;
      let good: string;

      beforeEach(async () => {
        const root = folder.next();
        await given({ at: root, shape: [8, 8], chunks: [4, 4], dataType: "uint8", ...how, values: () => 5 });
        good = `${root}-good`;
        fs.cpSync(root, good, { recursive: true });
        fs.rmSync(join(root, key));
        fs.mkdirSync(join(root, key));
        if (isFilled) fs.writeFileSync(join(root, key, "file"), "");
        source = kind === "zip" ? await zipOf(root) : root;
      });

      it("is an error for every flow", async () => {
        const target = `${good}-target`;
        const flows: Record<string, () => Promise<unknown>> = {
          "slice, read": () => slice(source).read(),
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
        const differences = (await all(diff(good, source))).map(({ what, path }) => `${what} ${path}`);
        expect(differences).toContain("broken ");
        await copy(good, target);
        await expect(copy(source, target, { ifExists: "update" })).rejects.toMatchObject(REFUSED);
      });

      it("is what validate finds, without reading chunks or with it, and keeps", async () => {
        const finding = { level: "error", what: "unreadable", path: "", key };
        for (const options of [{}, { deep: true }, { fix: true }, { fix: true, dryRun: true }]) {
          const errors = [];
          for await (const found of validate(source, options))
            if (found.level === "error") errors.push(found);
          expect(errors).toEqual([expect.objectContaining(finding)]);
        }
        const found = (await all(validate(good))).map(({ level }) => level);
        expect(found).not.toContain("error");
      });

      it("is an error that says where", async () => {
        await expect(slice(source).read()).rejects.toMatchObject({
          details: { key, coords: [0, expect.any(Number)], hint: expect.stringMatching(/\.$/) },
        });
      });
    },
  );

  it("is an error for a write that has to read it", async () => {
    const root = folder.next();
    await given({ at: root, shape: [8, 8], chunks: [4, 4], dataType: "uint8", ...how, values: null });
    fs.mkdirSync(join(root, key), { recursive: true });
    const writing = writeRegion(
      (await openArray(new DirectoryStore(root))) as ZarrArray<DataTypeName, WritableStore>,
      [
        [1, 2],
        [5, 6],
      ],
      new Uint8Array(1),
    );
    await expect(writing).rejects.toMatchObject(REFUSED);
  });
});

it("a folder at the key of one of many missing chunks is an error", async () => {
  const root = folder.next();
  await given({ at: root, shape: [3000], chunks: [1], dataType: "uint8", fillValue: 0, values: null });
  fs.mkdirSync(join(root, "c/2500"), { recursive: true });
  await expect(drain(digest(root))).rejects.toMatchObject(REFUSED);
});

it("a folder where no chunk is, and nodes named as documents, are none", async () => {
  const array = { shape: [8, 8], chunks: [4, 4], dataType: "uint8", values: null };
  const root = await given({ at: folder.next(), zarrFormat: "v2", arrays: { meta: array, attrs: array } });
  for (const name of ["0", "0.0.0", "9.9", "notes"]) fs.mkdirSync(join(root, "meta", name));
  await drain(digest(root));
  for await (const { level, message } of validate(root)) expect(level, message).not.toBe("error");
  await copy(root, `${root}-copy`);
  expect((await open(`${root}-copy/attrs`)).kind).toBe("array");
});

describe.each([
  ["v2", "a/.zarray"],
  ["v2", "a/.zattrs"],
  ["v2", ".zgroup"],
  ["v3", "a/zarr.json"],
  ["v3", "zarr.json"],
] as const)("a folder at the key of a document of %s, %s,", (zarrFormat, key) => {
  it.each(["directory", "zip"])("in a %s, is an error for every flow", async (kind) => {
    const root = folder.next();
    await (await createGroup(root, { zarrFormat })).close();
    const array = { shape: [4], chunks: [2], dataType: "int8", attributes: { units: "K" } } as const;
    await given({ at: join(root, "a"), ...array, values: () => 1 });
    fs.rmSync(join(root, key), { force: true });
    fs.mkdirSync(join(root, key));
    const source = kind === "zip" ? await zipOf(root) : root;
    const target = `${root}-target`;
    const flows: Record<string, () => Promise<unknown>> = {
      open: () => open(source),
      copy: () => copy(source, target),
      "copy --to": () => copy(source, target, { to: zarrFormat === "v2" ? "v3" : "v2" }),
      "copy --codec": () => copy(source, target, { codec: "gzip" }),
      digest: () => drain(digest(source)),
    };
    if (key.includes("/")) flows.open = () => open(`${source}/a`);
    const found = { ...REFUSED, details: { key: expect.stringMatching(`(^|/)${basename(key)}$`) } };
    for (const [name, flow] of Object.entries(flows)) await expect(flow(), name).rejects.toMatchObject(found);
    expect(fs.existsSync(target)).toBe(false);
  });
});

it("a node of v3 called meta, as a document of v1, is read", async () => {
  const root = folder.next();
  await (await createGroup(root, { zarrFormat: "v3" })).close();
  await (await create(join(root, "meta"), { shape: [2], chunks: [2], dataType: "int8" })).close();
  expect((await openArray(join(root, "meta"))).shape).toEqual([2]);
  await drain(digest(root));
});
