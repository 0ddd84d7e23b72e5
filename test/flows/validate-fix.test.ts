// @module-tag slow
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenSource } from "../../src/flows/index.ts";
import {
  convert,
  createGroup,
  digestTree,
  openArray,
  resizeArray,
  type ValidateFinding,
  type ValidateOptions,
  validate,
} from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { isWritable } from "../../src/stores/store.ts";
import { PrefixLock } from "../../src/stores/target/prefix-lock.ts";
import { openTargetBuild } from "../../src/stores/target.ts";
import { openStore } from "../../src/stores/url.ts";
import { wrapStore } from "../../src/stores/with/wrap-store.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { contentsOf } from "../support/consume.ts";
import { array, faulty, filesOf, replaceIn, zipOf } from "../support/faulty-hierarchy.ts";
import { given } from "../support/given.ts";
import { withBucket } from "../support/s3-environment.ts";
import { ramp, writeV2Array, writeV2Group } from "../support/v2-store.ts";

async function findings(source: OpenSource, options: ValidateOptions = {}): Promise<ValidateFinding[]> {
  const found: ValidateFinding[] = [];
  for await (const finding of validate(source, options)) {
    // One test has them as its subject; here chunks are few on purpose.
    if (finding.what !== "missing-chunks") found.push(finding);
  }
  return found;
}

const fixesOf = (found: readonly ValidateFinding[]) =>
  found
    .filter(({ isFix }) => isFix)
    .map(({ what, path, key, count, pointer }) =>
      [what, path, key, count, pointer].filter((part) => part !== undefined).join(" "),
    );

const FIXES = [
  "metadata nan nan/.zarray /fill_value",
  "metadata unstated unstated/.zarray /dimension_separator",
  "outside-grid shrunk shrunk/0.2 3",
  "stale-consolidated  .zmetadata",
];

async function memoryOf(folder: string): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const [key, text] of await filesOf(folder)) await store.set(key, Buffer.from(text, "latin1"));
  return store;
}

describe("fixing", () => {
  it.each([
    ["a directory", async (folder: string) => folder, []],
    ["a zip", (folder: string) => zipOf(folder, true), ["zip-entry  nan/0.0"]],
    ["a store in memory", memoryOf, []],
  ] as const)("%s mends all that is certain, once, and no value", async (_, place, more) => {
    const folder = await faulty();
    const source = await place(folder);
    const before = await digestTree(source);
    const all = (found: readonly ValidateFinding[]) => fixesOf(found).sort();
    const state = async () =>
      typeof source === "string" ? filesOf(join(folder, "..")) : source.list("").getReader().read();
    const untouched = await state();
    const planned = await findings(source, { fix: true, dryRun: true });
    expect(all(planned)).toEqual([...FIXES, ...more]);
    expect(await state()).toEqual(untouched);
    const fixed = await findings(source, { fix: true });
    expect(all(fixed)).toEqual(all(planned));
    for (const { message } of fixed.filter(({ isFix }) => isFix)) expect(message).toMatch(/ (was|were) /);
    for (const { message } of planned.filter(({ isFix }) => isFix)) expect(message).toMatch(/ would be /);
    const left = fixed.filter(({ isFix }) => !isFix);
    expect(left).toEqual([
      expect.objectContaining({
        what: "metadata",
        path: "attribute",
        notFixed: expect.stringContaining("JSON"),
      }),
    ]);
    expect(fixesOf(await findings(source, { fix: true }))).toEqual([]);
    expect((await findings(source)).map(({ path }) => path)).toEqual(["attribute"]);
    expect(await digestTree(source)).toEqual(before);
    expect((await readdir(join(folder, ".."))).filter((name) => name.includes("zarrflow"))).toEqual([]);
  });

  it("a bucket does the same", async () => {
    await withBucket(async (_, bucket) => {
      const files = await filesOf(await faulty());
      const store = await openStore({ kind: "s3", bucket, prefix: "g.zarr" });
      if (!isWritable(store)) throw new Error("a bucket is written");
      for (const [key, text] of files) await store.set(key, Buffer.from(text, "latin1"));
      const url = `s3://${bucket}/g.zarr`;
      expect(fixesOf(await findings(url, { fix: true, dryRun: true })).sort()).toEqual(FIXES);
      expect(fixesOf(await findings(url, { fix: true })).sort()).toEqual(FIXES);
      expect(fixesOf(await findings(url, { fix: true }))).toEqual([]);
      expect((await findings(url)).map(({ path }) => path)).toEqual(["attribute"]);
    });
  });

  it("writes what readers of the format take", async () => {
    const folder = await faulty();
    await findings(folder, { fix: true });
    const document = async (key: string) => JSON.parse(await readFile(join(folder, key), "utf8"));
    expect(await document("nan/.zarray")).toMatchObject({ fill_value: "-Infinity", dtype: "<f4" });
    expect(await document("unstated/.zarray")).toMatchObject({ dimension_separator: "/", fill_value: null });
    expect(await readFile(join(folder, "attribute/.zattrs"), "utf8")).toBe('{"missing": NaN}');
    expect([...(await filesOf(join(folder, "shrunk"))).keys()]).toEqual([
      ".zarray",
      "0.0",
      "0.1",
      "1.0",
      "1.1",
    ]);
    const { fillValue } = (await openArray(join(folder, "nan"))).metadata;
    expect(fillValue.bytes && new DataView(fillValue.bytes.buffer).getFloat32(0, true)).toBe(
      Number.NEGATIVE_INFINITY,
    );
  });

  describe("what bare NaN says in documents of v3", () => {
    const places = [
      ["a folder", async (folder: string) => folder],
      ["a zip", (folder: string) => zipOf(folder)],
      ["a store in memory", memoryOf],
    ] as const;

    /** A consolidated group with a variable, whose missing value is NaN, and a plain array. */
    async function consolidated(): Promise<string> {
      const u = { shape: [4], chunks: [2], dataType: "float32", fillValue: "NaN", values: null };
      const t = { ...u, dimensionNames: ["x"], attributes: { _FillValue: "AAAAAAAA+H8=" } };
      const at = join(await testFolder(), "c.zarr");
      return given({ at, zarrFormat: "v3", arrays: { t, u }, consolidated: true });
    }

    it.each(places)("in the root of %s, whose consolidated metadata alone have it", async (_, place) => {
      const root = await consolidated();
      const whole = await readFile(join(root, "zarr.json"), "utf8");
      await writeFile(join(root, "zarr.json"), whole.replaceAll(/"NaN"|"AAAAAAAA\+H8="/g, "NaN"));
      const source = await place(root);
      const expected = { level: "error", what: "stale-consolidated" };
      expect(await findings(source)).toEqual([expect.objectContaining({ ...expected, count: 2 })]);
      const planned = fixesOf(await findings(source, { fix: true, dryRun: true }));
      expect(planned).toEqual(["stale-consolidated  zarr.json"]);
      expect(fixesOf(await findings(source, { fix: true }))).toEqual(planned);
      expect(await findings(source)).toEqual([]);
      if (source === root)
        expect(JSON.parse(await readFile(join(root, "zarr.json"), "utf8"))).toEqual(JSON.parse(whole));
    });

    it.each(places)(
      "as a missing value in %s is what xarray reads, and in other attributes stays",
      async (_, place) => {
        const root = await consolidated();
        for (const key of ["zarr.json", "t/zarr.json"])
          await replaceIn(join(root, key), '"AAAAAAAA+H8="', 'NaN, "valid_max": Infinity');
        const source = await place(root);
        const mended = ["metadata t t/zarr.json /attributes/_FillValue"];
        const planned = await findings(source, { fix: true, dryRun: true });
        expect(fixesOf(planned)).toEqual(mended);
        const kept = expect.objectContaining({
          path: "t",
          pointer: "/attributes/valid_max",
          notFixed: expect.stringContaining("JSON has no NaN"),
        });
        expect(planned.filter(({ notFixed }) => notFixed)).toEqual([kept]);
        const fixed = await findings(source, { fix: true });
        expect(fixesOf(fixed)).toEqual(mended);
        expect(fixed.filter(({ isFix }) => !isFix)).toEqual([kept]);
        expect(
          (await openArray(typeof source === "string" ? `${source}/t` : { store: source, path: "t" }))
            .attributes,
        ).toMatchObject({
          _FillValue: "AAAAAAAA+H8=",
          valid_max: Number.POSITIVE_INFINITY,
        });
        expect((await findings(source)).map(({ pointer }) => pointer)).toEqual(["/attributes/valid_max"]);
      },
    );

    it("stays in attributes whose meaning is not certain", async () => {
      const root = await consolidated();
      await replaceIn(join(root, "u/zarr.json"), '"attributes": {}', '"attributes": {"_FillValue": NaN}');
      const found = await findings(root, { fix: true });
      expect(fixesOf(found)).toEqual(["stale-consolidated  zarr.json"]);
      expect(await readFile(join(root, "u/zarr.json"), "utf8")).toContain('"_FillValue": NaN');
    });
  });

  it.each([
    ["v2", ["gone/0.0", "gone/1.0", "deep/er/0/1", "7"], { gone: 2, "deep/er": 1, "": 1 }, ["gone/x", "c/x"]],
    [
      "v3",
      ["gone/c/0/0", "gone/c/1/0", "deep/er/c/0.1", "c/7"],
      { gone: 2, "deep/er": 1, "": 1 },
      ["gone/0.0", "gone/c/x", "7"],
    ],
  ] as const)(
    "reports chunks of no array of %s, and keeps them",
    async (zarrFormat, orphans, counts, others) => {
      const store = new MemoryStore();
      await (await createGroup(store, { zarrFormat })).close();
      for (const key of [...orphans, ...others]) await store.set(key, new Uint8Array(1));
      const found = await findings(store, { fix: true });
      const orphaned = found.filter(({ what }) => what === "orphan-chunk");
      expect(Object.fromEntries(orphaned.map(({ path, count = 1 }) => [path, count]))).toEqual(counts);
      for (const { notFixed } of orphaned) expect(notFixed).toContain("not certain");
      expect(found.find(({ what }) => what === "unknown-key")?.count).toBe(others.length);
      for (const key of orphans) expect(await store.get(key)).toBeDefined();
    },
  );

  it("of one array keeps the consolidated metadata above it true", async () => {
    const folder = await faulty();
    await findings(folder, { fix: true });
    await replaceIn(join(folder, "nan/.zarray"), '"-Infinity"', "NaN");
    const one = join(folder, "nan");
    const planned = fixesOf(await findings(one, { fix: true, dryRun: true }));
    expect(await findings(folder)).toContainEqual(expect.objectContaining({ what: "stale-consolidated" }));
    expect(planned).toEqual(["metadata  .zarray /fill_value"]);
    expect(fixesOf(await findings(one, { fix: true }))).toEqual(["metadata  .zarray /fill_value"]);
    expect((await findings(folder)).map(({ path }) => path)).toEqual(["attribute"]);
  });

  it("reads arrays of v3 that a bare NaN made unreadable, and removes what lies outside them in the same run", async () => {
    const folder = await testFolder();
    await writeV2Group(join(folder, "v2.zarr"), { t: { ...array, fillValue: "NaN" } });
    const target = join(folder, "v3.zarr");
    await convert(join(folder, "v2.zarr"), target, { to: "v3" });
    await replaceIn(join(target, "t/zarr.json"), '"NaN"', "NaN");
    await writeFile(join(target, "t/c/0/9"), "x");
    const error = { level: "error", what: "metadata", path: "t" };
    expect(await findings(target)).toContainEqual(expect.objectContaining(error));
    expect(fixesOf(await findings(target, { fix: true }))).toEqual([
      "metadata t t/zarr.json /fill_value",
      "outside-grid t t/c/0/9",
    ]);
    expect((await findings(target)).map(({ what }) => what)).toEqual(["no-consolidated"]);
  });

  it("removes chunks that a shrunk array has kept, and none of a node inside, or of no array", async () => {
    const folder = join(await testFolder(), "g.zarr");
    await writeV2Group(folder, { u: { ...array, shape: [8, 6], items: ramp(48) } });
    await resizeArray(join(folder, "u"), [4, 6]);
    // a key that reads as a chunk of `n`, but is one of the array inside
    await writeV2Array(join(folder, "n"), { ...array, shape: [2, 2], chunks: [2, 2], items: ramp(4) });
    await replaceIn(
      join(folder, "n/.zarray"),
      '"zarr_format": 2',
      '"zarr_format": 2, "dimension_separator": "/"',
    );
    await writeV2Array(join(folder, "n/7"), { shape: [2] });
    await mkdir(join(folder, "gone"));
    await writeFile(join(folder, "gone/9.9"), "x");
    const found = await findings(folder, { fix: true });
    expect(fixesOf(found)).toEqual(["outside-grid u u/2.0 4"]);
    expect(found).toContainEqual(
      expect.objectContaining({
        level: "warning",
        what: "orphan-chunk",
        path: "gone",
        key: "gone/9.9",
        notFixed: expect.stringContaining("may be lost"),
      }),
    );
    const files = await filesOf(folder);
    expect(files.has("n/7/0") && files.has("gone/9.9")).toBe(true);
    expect([...files.keys()].filter((key) => key.startsWith("u/")).length).toBe(5);
  });

  it("goes by what an array is now, not by what it was when it was opened", async () => {
    const folder = join(await testFolder(), "t");
    await writeV2Array(folder, array);
    await resizeArray(folder, [2, 3]);
    const opened = await openArray(folder);
    await resizeArray(folder, [4, 6]);
    const files = await filesOf(folder);
    expect((await findings(opened)).map(({ what }) => what)).not.toContain("outside-grid");
    expect(fixesOf(await findings(opened, { fix: true }))).toEqual([]);
    expect(await filesOf(folder)).toEqual(files);
  });

  it("removes what a killed run has left, and keeps what may be of one that is active", async () => {
    const folder = await testFolder();
    await writeV2Group(join(folder, "g.zarr"), { t: array });
    const spec = { kind: "directory", path: join(folder, "g.zarr") } as const;
    const dead = await openTargetBuild(spec, { ifExists: "replace" });
    const live = await openTargetBuild(spec, { ifExists: "replace" });
    await utimes(join(dead.controlFolder ?? "", "owner.json"), new Date(0), new Date(0));
    const planned = await findings(join(folder, "g.zarr"), { fix: true, dryRun: true });
    const found = await findings(join(folder, "g.zarr"), { fix: true });
    expect(fixesOf(found)).toEqual(fixesOf(planned));
    expect(fixesOf(found)).toEqual(["leftover "]);
    const reasons = (all: readonly ValidateFinding[]) =>
      all.filter(({ what, isFix }) => what === "leftover" && !isFix).map(({ notFixed }) => notFixed);
    expect(reasons(planned).sort()).toEqual([expect.stringContaining("--break-lock"), undefined]);
    expect(reasons(found)).toEqual([expect.stringContaining("--break-lock")]);
    await live.discard();
    expect(await readdir(folder)).toEqual(["g.zarr"]);
  });

  it("that fails at any change is completed by the next, and never changes a value", async () => {
    const folder = await faulty();
    const whole = await memoryOf(folder);
    await findings(whole, { fix: true });
    const values = await digestTree(whole);
    let failures = 0;
    for (let limit = 0; ; limit++) {
      const store = await memoryOf(folder);
      let changes = 0;
      const failing = wrapStore(store, async ({ operation }, run) => {
        if ((operation === "set" || operation === "delete") && changes++ >= limit)
          throw new Error("the power is gone");
        return run();
      });
      const outcome = await findings(failing, { fix: true }).then(
        () => "done",
        (error: unknown) => String(error),
      );
      expect(await digestTree(store)).toEqual(values);
      await findings(store, { fix: true });
      expect(await contentsOf(store)).toEqual(await contentsOf(whole));
      if (outcome === "done") break;
      expect(outcome).toContain("the power is gone");
      failures++;
    }
    expect(failures).toBeGreaterThan(5);
  });

  it("is rejected while a run writes there, and of what is read-only", async () => {
    const folder = await faulty();
    const store = new DirectoryStore(folder);
    const lock = await PrefixLock.take(store);
    const before = await filesOf(folder);
    await expect(findings(folder, { fix: true })).rejects.toMatchObject({ code: "locked" });
    expect(fixesOf(await findings(folder, { fix: true, dryRun: true })).sort()).toEqual(FIXES);
    expect(await filesOf(folder)).toEqual(before);
    await lock?.release();
    const { get, size, list, listDirectory } = await memoryOf(folder);
    const of = await memoryOf(folder);
    const readOnly = {
      description: "read-only",
      get: get.bind(of),
      size: size.bind(of),
      list: list.bind(of),
      listDirectory: listDirectory.bind(of),
    };
    await expect(findings(readOnly, { fix: true })).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("says of each finding that stays why", async () => {
    const folder = await faulty();
    await writeFile(join(folder, "README"), "");
    await writeFile(join(folder, "nan/1.1"), "short");
    await writeFile(join(folder, "nan/zarr.json"), "{}");
    await writeFile(join(folder, "attribute/.zarray"), "{");
    for (const finding of (await findings(folder, { fix: true })).filter(({ isFix }) => !isFix))
      expect(finding.notFixed).toMatch(/^[A-Z].+[.]$/);
  });

  it("leaves a zip alone whose other entries would be lost", async () => {
    const folder = await testFolder();
    await writeV2Group(join(folder, "g.zarr"), { t: array });
    const entries = [...(await filesOf(join(folder, "g.zarr")))].map(([name, text]) => ({
      name,
      value: Buffer.from(text, "latin1"),
    }));
    const zip = buildZip([
      ...entries,
      ...entries.slice(0, 1),
      { name: "t/9.9", value: Buffer.from("x") },
      { name: "a//b", value: Buffer.from("x") },
    ]);
    await writeFile(join(folder, "g.zip"), zip);
    const found = await findings(join(folder, "g.zip"), { fix: true });
    expect(fixesOf(found)).toEqual([]);
    expect(found.filter(({ what }) => what === "zip-entry").map(({ notFixed }) => notFixed)).toEqual([
      expect.stringContaining("lost"),
      expect.stringContaining("lost"),
    ]);
    expect(found.find(({ what }) => what === "outside-grid")?.notFixed).toContain("would be lost");
    expect((await readFile(join(folder, "g.zip"))).equals(zip)).toBe(true);
  });
});
