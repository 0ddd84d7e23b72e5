// @module-tag slow
import { mkdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convert, copy, type ValidateFinding, type ValidateOptions, validate } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { type Manners, serveValues } from "../stores/value-server.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { all, valuesIn } from "../support/consume.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };
const longer: V2Array = { ...array, shape: [5, 6], items: ramp(30) };

/** A finding in a line: its level and kind, its path ("/" for the root), and what else it names. */
const lineOf = ({ level, what, path, key, pointer, count }: ValidateFinding) =>
  [level, what, path || "/", key, pointer, count && `x${count}`].filter(Boolean).join(" ");

/** All but missing chunks, of which there are some on purpose. */
const found = async (url: string, options: ValidateOptions = {}) =>
  (await all(validate(url, options))).filter(({ what }) => what !== "missing-chunks");
const findings = async (...of: Parameters<typeof found>) => (await found(...of)).map(lineOf);
/** What was found beside that nothing is consolidated. */
const faults = async (...of: Parameters<typeof found>) =>
  (await findings(...of)).filter((line) => line !== "info no-consolidated /");
const messages = async (...of: Parameters<typeof found>) =>
  (await found(...of)).map(({ message }) => message);

async function group(arrays: Readonly<Record<string, V2Array>> = { t: array }): Promise<string> {
  const folder = join(await testFolder(), "g.zarr");
  await writeV2Group(folder, arrays);
  return folder;
}

it("finds nothing in a hierarchy that is in order but that nothing is consolidated", async () => {
  expect(await findings(await group(), { deep: true })).toEqual(["info no-consolidated /"]);
  const one = join(await testFolder(), "a.zarr");
  await writeV2Array(one, { ...array, shape: [], chunks: [], items: ramp(1), dimensions: [] });
  expect(await findings(one, { deep: true })).toEqual([]);
  await expect(findings(`${one}.none`)).rejects.toMatchObject({ code: "not-found" });
});

describe("of one array or group, finds", () => {
  const t = { t: array };
  const codec = (id: string) => ({ t: { ...array, compressor: { id, level: 1 } } });
  const put = (key: string, text: string) => async (folder: string) => {
    await mkdir(join(folder, key, ".."), { recursive: true });
    await writeFile(join(folder, key), text);
  };
  const move = (from: string, to: string) => async (folder: string) => {
    await mkdir(join(folder, to, ".."), { recursive: true });
    await rename(join(folder, from), join(folder, to));
  };
  const cut = (key: string, length: number) => (folder: string) => truncate(join(folder, key), length);
  const inner = (folder: string) => writeV2Array(join(folder, "t/inner"), array);

  type Change = (folder: string) => Promise<unknown>;
  it.each<[string, Readonly<Record<string, V2Array>>, readonly Change[], readonly string[]]>([
    [
      "metadata that cannot be read, and looks at the others",
      { t: array, u: array },
      [put("t/.zarray", "{"), move("u/0.0", "u/0.9")],
      ["error metadata t t/.zarray", "warning outside-grid u u/0.9"],
    ],
    [
      "metadata of the root that cannot be read",
      t,
      [put(".zgroup", '{"zarr_format": 7}')],
      ["error metadata / .zgroup /zarr_format"],
    ],
    ["what readers go on over", t, [put("t/.zattrs", '{"missing": NaN}')], ["warning metadata t /missing"]],
    [
      "groups without documents, and attributes that describe nothing",
      { "a/b/t": array },
      [put("lone/.zattrs", "{}")],
      ["warning implied-group a", "warning implied-group a/b", "warning lone-attributes lone lone/.zattrs"],
    ],
    [
      "documents inside an array, and of another format",
      t,
      [inner, put("t/zarr.json", "{}")],
      ["warning inside-array t/inner", "warning foreign-document t t/zarr.json"],
    ],
    [
      "keys that belong to nothing, together, and those outside the grid as a warning",
      t,
      ["t/notes", "t/sub/notes", "t/2.0", "t/0.2", "README"].map((key) => put(key, "x")),
      ["info unknown-key / README", "warning outside-grid t t/0.2 x2", "info unknown-key t t/notes x2"],
    ],
    ["keys with another separator", t, [move("t/1.0", "t/1/0")], ["warning other-separator t t/1/0"]],
    ["chunks of a wrong length where all have one", t, [cut("t/1.1", 5)], ["error chunk-size t t/1.1"]],
    ["empty chunks", codec("zlib"), [cut("t/0.0", 0)], ["error chunk-size t t/0.0"]],
  ])("%s", async (_, arrays, changes, expected) => {
    const folder = await group(arrays);
    for (const change of changes) await change(folder);
    expect(await faults(folder)).toEqual(expected);
  });

  it("documents of another format beside the root's, also under names that its own does not know", async () => {
    const folder = await group();
    await put("meta", "x")(folder);
    expect(await messages(folder)).toContainEqual(expect.stringMatching(/^meta of another format/));
  });

  it("chunks that cannot be decoded only when every one is", async () => {
    const folder = await group(codec("zlib"));
    expect(await faults(folder)).toEqual([]);
    const events: number[] = [];
    const broken = await faults(folder, { deep: true, onEvent: ({ bytes }) => events.push(bytes) });
    expect(broken.sort()).toEqual(["0.0", "0.1", "1.0", "1.1"].map((key) => `error broken-chunk t t/${key}`));
    expect(Math.max(...events)).toBe(96);
    const unknown = await group(codec("my-codec"));
    expect(await faults(unknown, { deep: true })).toEqual(["warning metadata t /compressor/id"]);
  });

  it("entries of a zip that occur twice", async () => {
    const zip = join(await testFolder(), "g.zip");
    const value = new TextEncoder().encode('{"zarr_format": 2}');
    await writeFile(zip, buildZip([1, 2].map(() => ({ name: ".zgroup", value }))));
    expect(await faults(zip)).toEqual(["warning zip-entry / .zgroup"]);
  });
});

describe("consolidated metadata", () => {
  const KEYS = [".zgroup", ".zattrs", "t/.zarray", "t/.zattrs", "u/.zarray", "u/.zattrs"];

  async function consolidated(): Promise<string> {
    const folder = await group({ t: array, u: array });
    const document = async (key: string) => [key, JSON.parse(await readFile(join(folder, key), "utf8"))];
    const metadata = Object.fromEntries(await Promise.all(KEYS.map(document)));
    await writeFile(join(folder, ".zmetadata"), JSON.stringify({ metadata, zarr_consolidated_format: 1 }));
    return folder;
  }

  async function consolidatedInV3(): Promise<string> {
    const source = await consolidated();
    await convert(source, `${source}.v3`, { to: "v3" });
    return `${source}.v3`;
  }

  it("that are true are in order, and stale where nodes come, go or change", async () => {
    const folder = await consolidated();
    expect(await findings(folder)).toEqual([]);
    await writeV2Array(join(folder, "new"), array);
    await rm(join(folder, "t"), { recursive: true });
    await writeFile(join(folder, "u/.zattrs"), '{"_ARRAY_DIMENSIONS": ["y", "z"]}');
    const stale = ["new/.zattrs x2", "t/.zarray x2", "u/.zattrs"];
    expect(await findings(folder)).toEqual(stale.map((key) => `error stale-consolidated / ${key}`));
    const said = ["does not list it", "does not exist", "differs from the document"];
    expect(await messages(folder)).toEqual(said.map((text) => expect.stringContaining(text)));
    await writeFile(join(folder, ".zmetadata"), "[]");
    expect(await findings(folder)).toEqual(["error stale-consolidated / .zmetadata"]);
  });

  it("of v3 are, too", async () => {
    const target = await consolidatedInV3();
    expect(await findings(target)).toEqual([]);
    const document = await readFile(join(target, "u/zarr.json"), "utf8");
    await writeFile(join(target, "u/zarr.json"), document.replace('"y"', '"z"'));
    expect(await findings(target)).toEqual(["error stale-consolidated / u/zarr.json"]);
  });

  it("that are the only ones are a warning, and chunks below are still known", async () => {
    const folder = await consolidated();
    for (const key of KEYS) await rm(join(folder, key));
    expect(await findings(folder)).toEqual(["warning metadata /"]);
    const target = await consolidatedInV3();
    for (const name of ["t", "u"]) await rm(join(target, name, "zarr.json"));
    await writeFile(join(target, "t/c/0/9"), "");
    const expected = ["warning metadata /", "warning outside-grid t t/c/0/9"];
    expect(await findings(target, { deep: true })).toEqual(expected);
  });
});

describe("dimensions", () => {
  it("with two lengths in one group are reported, and a skip that would make them is refused", async () => {
    const [short, long] = [await group({ t: array }), await group({ t: longer, u: longer })];
    await expect(copy(long, short, { ifExists: "skip" })).rejects.toMatchObject({
      code: "differs",
      details: { path: "u", expected: "4 items, as in t", found: "5 items" },
    });
    expect(await faults(short)).toEqual([]);
    const mixed = await group({ t: array, u: longer });
    await copy(mixed, short, { ifExists: "skip" }); // the source has it itself
    for (const url of [mixed, short]) {
      expect(await faults(url)).toEqual(["warning dimension-lengths /"]);
      const message = 'the dimension "y" has 4 items in t and 5 in u: xarray cannot open the group';
      expect(await messages(url)).toContain(message);
    }
  });

  it("may differ between the levels of an image, and between groups", async () => {
    const folder = join(await testFolder(), "image.zarr");
    await writeV2Group(folder, { 0: longer, 1: array });
    const datasets = [{ path: "0" }, { path: "1" }];
    await writeFile(join(folder, ".zattrs"), JSON.stringify({ multiscales: [{ version: "0.4", datasets }] }));
    const outer = await group({ t: array });
    await writeV2Group(join(outer, "inner"), { t: longer });
    for (const url of [folder, outer]) expect((await faults(url)).join()).not.toContain("dimension-lengths");
  });
});

describe("missing values", () => {
  const INFO = "info missing-value t /fill_value";
  const WARNING = "warning missing-value t /fill_value";
  const STORED = "warning missing-value t t/0.0";
  const OF_ATTRIBUTE = "warning missing-value t /attributes/_FillValue";
  const ones = ramp(24).map((n) => n + 1);

  it.each<[string, Partial<V2Array>, readonly string[]]>([
    ["of 0 where nobody asked for it, and a 0 is stored", { fillValue: 0 }, [INFO, STORED]],
    ["of 0 where no 0 is stored", { fillValue: 0, items: ones }, [INFO]],
    [
      "of 0 where the only ones are beyond the edge",
      { fillValue: 0, shape: [3, 3], chunks: [2, 2], items: ones.subarray(0, 9) },
      [INFO],
    ],
    ["of 0 in packed data", { fillValue: 0, items: ones, attributes: { scale_factor: 0.1 } }, [WARNING]],
    ["that are null", { fillValue: null }, []],
    ["that are chosen", { fillValue: -999 }, []],
    ["of 0 that an attribute states", { fillValue: 0, attributes: { _FillValue: 0 } }, []],
    ["of 0 without dimension names", { fillValue: 0, dimensions: undefined } as object, []],
    [
      "of which the attribute says otherwise",
      { fillValue: -1, attributes: { _FillValue: -2 } },
      [OF_ATTRIBUTE],
    ],
  ])("%s", async (_, change, expected) => {
    const { dimensions, ...rest } = { ...array, ...change };
    const url = await group({ t: { ...rest, ...(dimensions && { dimensions }) } });
    expect(await faults(url, { deep: true })).toEqual(expected);
  });

  it.each([
    ["false", "|b1", false, Uint8Array.of(1, 0), Uint8Array.of(1, 1)],
    ['""', "<U2", "", Uint32Array.of(97, 98, 0, 0), Uint32Array.of(97, 98, 97, 0)],
    ['""', "|O", "", ["a", ""], ["a", "\0"]],
    ["0", "<c8", [0, 0], Float32Array.of(1, 0, 0, 0), Float32Array.of(1, 0, 0, 1)],
  ])("of %s are found as well: %s", async (zero, dtype, fillValue, stored, others) => {
    const told = async (items: ArrayBufferView | string[]) => {
      const pair = { shape: [2], chunks: [2], dimensions: ["x"], dtype, fillValue, items };
      const all = await found(await group({ t: pair }), { deep: true });
      return all.flatMap(({ what, level, message }) =>
        what === "missing-value" ? `${level}: ${message}` : [],
      );
    };
    const info = `info: readers of the CF conventions treat every stored ${zero} as missing: it is the fill value`;
    const warning = `warning: holds ${zero}, which readers of the CF conventions treat as missing: it is the fill value`;
    expect(await told(stored)).toEqual([info, warning]);
    expect(await told(others)).toEqual([info]);
  });

  it("in v3 that xarray cannot read are a warning", async () => {
    const url = await group({ t: { ...array, fillValue: 7 } });
    await convert(url, `${url}.v3`, { to: "v3" });
    expect(await faults(`${url}.v3`)).toEqual([]);
    const document = `${url}.v3/t/zarr.json`;
    const text = await readFile(document, "utf8");
    await writeFile(document, text.replace(/"_FillValue": "[^"]*"/, '"_FillValue": 7.0'));
    expect(await faults(`${url}.v3`)).toEqual([OF_ATTRIBUTE]);
  });
});

describe("of an array on a server that cannot list, with `deep`", () => {
  const garbage = Uint8Array.from({ length: 20 }, (_, i) => i + 1);
  const shards = { chunks: [2, 3], shards: [4, 3] };
  type Change = (values: Map<string, Uint8Array>) => unknown;
  const none: Change = () => {};
  const spoil =
    (key: string): Change =>
    (values) =>
      values.set(`data/${key}`, garbage);
  const lack =
    (...keys: string[]): Change =>
    (values) =>
      keys.map((key) => values.delete(`data/${key}`));
  const [one, two] = [lack("c/1/0"), lack("c/1/0", "c/1/1")];

  it.each<[string, Change, object, Manners, readonly string[]]>([
    ["chunks are decoded", none, {}, {}, []],
    ["broken chunks are found", spoil("c/1/0"), {}, {}, ["error broken-chunk / c/1/0"]],
    ["shards are decoded", none, shards, {}, []],
    ["broken shards are found", spoil("c/0/1"), shards, {}, ["error broken-chunk / c/0/1"]],
    ["missing chunks are counted", one, {}, {}, ["info missing-chunks / x1"]],
    ["denied chunks are told of", two, {}, { missing: "denied" }, ["error unreadable / c/1/0 x2"]],
    ["pages for chunks are told of", two, {}, { missing: "page" }, ["error unreadable / c/1/0 x2"]],
  ])("%s", async (_, change, grid, manners, expected) => {
    const store = new MemoryStore();
    await convert(join(await group(), "t"), store, { to: "v3", codec: "zstd", ...grid });
    const values = await valuesIn(store, "data");
    change(values);
    const server = await serveValues(values, manners);
    const lines = await all(validate(`${server.url}/data`, { deep: true })).finally(() => server.close());
    const isMeant = ({ what }: ValidateFinding) => what !== "no-consolidated" && what !== "not-checked";
    expect(lines.filter(isMeant).map(lineOf)).toEqual(expected);
  });
});
