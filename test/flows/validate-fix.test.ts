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
import { wrapStore } from "../../src/stores/with/wrap-store.ts";
import { openTargetBuild } from "../../src/targets/index.ts";
import { StoreLock } from "../../src/targets/store-lock.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { all, contentsOf } from "../support/consume.ts";
import { array, faulty, filesOf, replaceIn, zipOf } from "../support/faulty-hierarchy.ts";
import { given, givenKeys } from "../support/given.ts";
import { withBucket } from "../support/s3-environment.ts";
import { ramp, writeV2Array, writeV2Group } from "../support/v2-store.ts";

/** All but missing chunks, of which there are some on purpose. */
const findings = async (source: OpenSource, options: ValidateOptions = {}) =>
  (await all(validate(source, options))).filter(({ what }) => what !== "missing-chunks");

const fixesIn = (found: readonly ValidateFinding[]) =>
  found
    .filter(({ isFix }) => isFix)
    .map(({ what, path, key, count, pointer }) =>
      [what, path || "/", key, count && `x${count}`, pointer].filter(Boolean).join(" "),
    )
    .sort();
const fixes = async (source: OpenSource) => fixesIn(await findings(source, { fix: true }));
const planned = async (source: OpenSource) => fixesIn(await findings(source, { fix: true, dryRun: true }));
const pathsOf = async (source: OpenSource) => (await findings(source)).map(({ path }) => path);

const FIXES = [
  "metadata nan nan/.zarray /fill_value",
  "metadata unstated unstated/.zarray /dimension_separator",
  "outside-grid shrunk shrunk/0.2 x3",
  "stale-consolidated / .zmetadata",
];

const bytesOf = (text: string) => Buffer.from(text, "latin1");
const memoryOf = async (folder: string) =>
  givenKeys(Object.fromEntries([...(await filesOf(folder))].map(([key, text]) => [key, bytesOf(text)])));

describe("fixing", () => {
  it.each([
    ["a directory", async (folder: string) => folder, []],
    ["a zip", (folder: string) => zipOf(folder, true), ["zip-entry / nan/0.0"]],
    ["a store in memory", memoryOf, []],
  ] as const)("%s mends all that is certain, once, and no value", async (_, place, more) => {
    const folder = await faulty();
    const source = await place(folder);
    const before = await digestTree(source);
    const state = async () => (typeof source === "string" ? filesOf(join(folder, "..")) : contentsOf(source));
    const untouched = await state();
    const would = await findings(source, { fix: true, dryRun: true });
    expect(await state()).toEqual(untouched);
    const fixed = await findings(source, { fix: true });
    for (const found of [would, fixed]) {
      expect(fixesIn(found)).toEqual([...FIXES, ...more]);
      const said = found === would ? / would be / : / (was|were) /;
      for (const { message } of found.filter(({ isFix }) => isFix)) expect(message).toMatch(said);
    }
    const notFixed = expect.stringContaining("JSON");
    const left = [expect.objectContaining({ what: "metadata", path: "attribute", notFixed })];
    expect(fixed.filter(({ isFix }) => !isFix)).toEqual(left);
    expect(await fixes(source)).toEqual([]);
    expect(await pathsOf(source)).toEqual(["attribute"]);
    expect(await digestTree(source)).toEqual(before);
    expect((await readdir(join(folder, ".."))).filter((name) => name.includes("zarrflow"))).toEqual([]);
  });

  it("a bucket does the same", () =>
    withBucket(async ({ objects }, bucket) => {
      for (const [key, text] of await filesOf(await faulty())) objects.set(`g.zarr/${key}`, bytesOf(text));
      const url = `s3://${bucket}/g.zarr`;
      expect(await planned(url)).toEqual(FIXES);
      expect(await fixes(url)).toEqual(FIXES);
      expect(await fixes(url)).toEqual([]);
      expect(await pathsOf(url)).toEqual(["attribute"]);
    }));

  it("writes what readers of the format take, and keeps the consolidated metadata above true", async () => {
    const folder = await faulty();
    await fixes(folder);
    const document = async (key: string) => JSON.parse(await readFile(join(folder, key), "utf8"));
    expect(await document("nan/.zarray")).toMatchObject({ fill_value: "-Infinity", dtype: "<f4" });
    expect(await document("unstated/.zarray")).toMatchObject({ dimension_separator: "/", fill_value: null });
    expect(await readFile(join(folder, "attribute/.zattrs"), "utf8")).toBe('{"missing": NaN}');
    const kept = [".zarray", "0.0", "0.1", "1.0", "1.1"];
    expect([...(await filesOf(join(folder, "shrunk"))).keys()]).toEqual(kept);
    const one = join(folder, "nan");
    const { bytes } = (await openArray(one)).metadata.fillValue;
    expect(bytes && new DataView(bytes.buffer).getFloat32(0, true)).toBe(Number.NEGATIVE_INFINITY);

    await replaceIn(join(one, ".zarray"), '"-Infinity"', "NaN");
    expect(await findings(folder)).toContainEqual(expect.objectContaining({ what: "stale-consolidated" }));
    expect(await planned(one)).toEqual(["metadata / .zarray /fill_value"]);
    expect(await fixes(one)).toEqual(["metadata / .zarray /fill_value"]);
    expect(await pathsOf(folder)).toEqual(["attribute"]);
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
      expect(await findings(source)).toMatchObject([
        { level: "error", what: "stale-consolidated", count: 2 },
      ]);
      expect(await planned(source)).toEqual(["stale-consolidated / zarr.json"]);
      expect(await fixes(source)).toEqual(["stale-consolidated / zarr.json"]);
      expect(await findings(source)).toEqual([]);
      if (source === root)
        expect(JSON.parse(await readFile(join(root, "zarr.json"), "utf8"))).toEqual(JSON.parse(whole));
    });

    it.each(places)(
      "as a missing value in %s is what xarray reads, and stays in others",
      async (_, place) => {
        const root = await consolidated();
        for (const key of ["zarr.json", "t/zarr.json"])
          await replaceIn(join(root, key), '"AAAAAAAA+H8="', 'NaN, "valid_max": Infinity');
        const source = await place(root);
        const [pointer, notFixed] = ["/attributes/valid_max", expect.stringContaining("JSON has no NaN")];
        for (const dryRun of [true, false]) {
          const found = await findings(source, { fix: true, dryRun });
          expect(fixesIn(found)).toEqual(["metadata t t/zarr.json /attributes/_FillValue"]);
          const kept = found.filter(dryRun ? (one) => one.notFixed : ({ isFix }) => !isFix);
          expect(kept).toEqual([expect.objectContaining({ path: "t", pointer, notFixed })]);
        }
        const at = typeof source === "string" ? `${source}/t` : { store: source, path: "t" };
        const attributes = { _FillValue: "AAAAAAAA+H8=", valid_max: Number.POSITIVE_INFINITY };
        expect((await openArray(at)).attributes).toMatchObject(attributes);
        expect((await findings(source)).map((one) => one.pointer)).toEqual([pointer]);
      },
    );

    it("stays in attributes whose meaning is not certain", async () => {
      const root = await consolidated();
      await replaceIn(join(root, "u/zarr.json"), '"attributes": {}', '"attributes": {"_FillValue": NaN}');
      expect(await fixes(root)).toEqual(["stale-consolidated / zarr.json"]);
      expect(await readFile(join(root, "u/zarr.json"), "utf8")).toContain('"_FillValue": NaN');
    });

    it("is mended where it made arrays unreadable, and what lies outside them goes in the same run", async () => {
      const folder = await testFolder();
      await writeV2Group(join(folder, "v2.zarr"), { t: { ...array, fillValue: "NaN" } });
      const target = join(folder, "v3.zarr");
      await convert(join(folder, "v2.zarr"), target, { to: "v3" });
      await replaceIn(join(target, "t/zarr.json"), '"NaN"', "NaN");
      await writeFile(join(target, "t/c/0/9"), "x");
      const error = { level: "error", what: "metadata", path: "t" };
      expect(await findings(target)).toContainEqual(expect.objectContaining(error));
      const mended = ["metadata t t/zarr.json /fill_value", "outside-grid t t/c/0/9"];
      expect(await fixes(target)).toEqual(mended);
      expect((await findings(target)).map(({ what }) => what)).toEqual(["no-consolidated"]);
    });
  });

  it.each([
    ["v2", ["gone/0.0", "gone/1.0", "deep/er/0/1", "7"], ["gone/x", "c/x"]],
    ["v3", ["gone/c/0/0", "gone/c/1/0", "deep/er/c/0.1", "c/7"], ["gone/0.0", "gone/c/x", "7"]],
  ] as const)("reports chunks of no array of %s, and keeps them", async (zarrFormat, orphans, others) => {
    const store = new MemoryStore();
    await (await createGroup(store, { zarrFormat })).close();
    for (const key of [...orphans, ...others]) await store.set(key, new Uint8Array(1));
    const found = await findings(store, { fix: true });
    const orphaned = found.filter(({ what }) => what === "orphan-chunk");
    const counts = Object.fromEntries(orphaned.map(({ path, count = 1 }) => [path, count]));
    expect(counts).toEqual({ gone: 2, "deep/er": 1, "": 1 });
    for (const { notFixed } of orphaned) expect(notFixed).toContain("may be lost");
    expect(found.find(({ what }) => what === "unknown-key")?.count).toBe(others.length);
    for (const key of orphans) expect(await store.get(key)).toBeDefined();
  });

  it("removes chunks that a shrunk array has kept, and none of a node inside, or of no array", async () => {
    const folder = join(await testFolder(), "g.zarr");
    await writeV2Group(folder, { u: { ...array, shape: [8, 6], items: ramp(48) } });
    await resizeArray(join(folder, "u"), [4, 6]);
    // a key that reads as a chunk of `n`, but is one of the array inside
    await writeV2Array(join(folder, "n"), { ...array, shape: [2, 2], chunks: [2, 2], items: ramp(4) });
    const stated = '"zarr_format": 2, "dimension_separator": "/"';
    await replaceIn(join(folder, "n/.zarray"), '"zarr_format": 2', stated);
    await writeV2Array(join(folder, "n/7"), { shape: [2] });
    await mkdir(join(folder, "gone"));
    await writeFile(join(folder, "gone/9.9"), "x");
    const found = await findings(folder, { fix: true });
    expect(fixesIn(found)).toEqual(["outside-grid u u/2.0 x4"]);
    const orphan = { level: "warning", what: "orphan-chunk", path: "gone", key: "gone/9.9" };
    const notFixed = expect.stringContaining("may be lost");
    expect(found).toContainEqual(expect.objectContaining({ ...orphan, notFixed }));
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
    expect(await fixes(opened)).toEqual([]);
    expect(await filesOf(folder)).toEqual(files);
  });

  it("removes what a killed run has left, and keeps what may be of one that is active", async () => {
    const folder = await testFolder();
    const root = join(folder, "g.zarr");
    await writeV2Group(root, { t: array });
    const [dead, live] = [1, 2].map(() =>
      openTargetBuild({ kind: "directory", path: root }, { ifExists: "replace" }),
    );
    await utimes(join((await dead)?.controlFolder ?? "", "owner.json"), new Date(0), new Date(0));
    const reasons = (found: readonly ValidateFinding[]) =>
      found.filter(({ what, isFix }) => what === "leftover" && !isFix).map(({ notFixed }) => notFixed);
    const would = await findings(root, { fix: true, dryRun: true });
    const found = await findings(root, { fix: true });
    for (const one of [would, found]) expect(fixesIn(one)).toEqual(["leftover /"]);
    expect(reasons(would).sort()).toEqual([expect.stringContaining("--break-lock"), undefined]);
    expect(reasons(found)).toEqual([expect.stringContaining("--break-lock")]);
    await (await live)?.discard();
    expect(await readdir(folder)).toEqual(["g.zarr"]);
  });

  it("that fails at any change is completed by the next, and never changes a value", async () => {
    const folder = await faulty();
    const whole = await memoryOf(folder);
    await fixes(whole);
    const values = await digestTree(whole);
    let failures = 0;
    for (let isDone = false; !isDone; failures++) {
      const store = await memoryOf(folder);
      let changes = 0;
      const failing = wrapStore(store, async ({ operation }, run) => {
        const isChange = operation === "set" || operation === "delete";
        if (isChange && changes++ >= failures) throw new Error("the power is gone");
        return run();
      });
      const outcome = await fixes(failing).then(() => undefined, String);
      expect(await digestTree(store)).toEqual(values);
      await fixes(store);
      expect(await contentsOf(store)).toEqual(await contentsOf(whole));
      isDone = outcome === undefined;
      if (!isDone) expect(outcome).toContain("the power is gone");
    }
    expect(failures).toBeGreaterThan(6);
  });

  it("is rejected while a run writes there, and of what is read-only", async () => {
    const folder = await faulty();
    const lock = await StoreLock.take(new DirectoryStore(folder));
    const before = await filesOf(folder);
    await expect(fixes(folder)).rejects.toMatchObject({ code: "locked" });
    expect(await planned(folder)).toEqual(FIXES);
    expect(await filesOf(folder)).toEqual(before);
    await lock?.release();
    const of = await memoryOf(folder);
    const readOnly = {
      description: "read-only",
      get: of.get.bind(of),
      size: of.size.bind(of),
      list: of.list.bind(of),
      listDirectory: of.listDirectory.bind(of),
    };
    await expect(fixes(readOnly)).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("says of each finding that stays why", async () => {
    const folder = await faulty();
    const files = { README: "", "nan/1.1": "short", "nan/zarr.json": "{}", "attribute/.zarray": "{" };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const left = (await findings(folder, { fix: true })).filter(({ isFix }) => !isFix);
    expect(left.length).toBeGreaterThan(3);
    for (const { notFixed } of left) expect(notFixed).toMatch(/^[A-Z].+[.]$/);
  });

  it("leaves a zip alone whose other entries would be lost", async () => {
    const folder = await testFolder();
    await writeV2Group(join(folder, "g.zarr"), { t: array });
    const entries = [...(await filesOf(join(folder, "g.zarr")))].map(([name, text]) => ({
      name,
      value: bytesOf(text),
    }));
    const more = ["t/9.9", "a//b"].map((name) => ({ name, value: Buffer.from("x") }));
    const zip = buildZip([...entries, ...entries.slice(0, 1), ...more]);
    await writeFile(join(folder, "g.zip"), zip);
    const found = await findings(join(folder, "g.zip"), { fix: true });
    expect(fixesIn(found)).toEqual([]);
    const reasons = (kind: string) =>
      found.filter(({ what }) => what === kind).map(({ notFixed }) => notFixed);
    const lost = expect.stringContaining("lost");
    expect([reasons("zip-entry"), reasons("outside-grid")]).toEqual([[lost, lost], [lost]]);
    expect((await readFile(join(folder, "g.zip"))).equals(zip)).toBe(true);
  });
});
