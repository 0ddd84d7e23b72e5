// @module-tag slow
import { mkdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convert, copy, type ValidateFinding, type ValidateOptions, validate } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { type Manners, serveValues } from "../stores/value-server.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { valuesIn } from "../support/consume.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };

async function findings(url: string, options: ValidateOptions = {}): Promise<ValidateFinding[]> {
  const found: ValidateFinding[] = [];
  for await (const finding of validate(url, options)) {
    // One test has them as its subject; here chunks are few on purpose.
    if (finding.what !== "missing-chunks") found.push(finding);
  }
  return found;
}

/** What was found beside that nothing is consolidated. */
async function faults(url: string, options?: ValidateOptions): Promise<ValidateFinding[]> {
  return (await findings(url, options)).filter(({ what }) => what !== "no-consolidated");
}

async function group(arrays: Readonly<Record<string, V2Array>> = { t: array }): Promise<string> {
  const folder = join(await testFolder(), "g.zarr");
  await writeV2Group(folder, arrays);
  return folder;
}

describe("a hierarchy that is in order", () => {
  it("has no findings but that nothing is consolidated", async () => {
    expect(await findings(await group(), { deep: true })).toEqual([
      expect.objectContaining({ level: "info", what: "no-consolidated" }),
    ]);
  });

  it("has none where it is one array", async () => {
    const folder = join(await testFolder(), "a.zarr");
    await writeV2Array(folder, { ...array, shape: [], chunks: [], items: ramp(1), dimensions: [] });
    expect(await findings(folder, { deep: true })).toEqual([]);
  });
});

describe("metadata", () => {
  it("that cannot be read are an error, and the others are still looked at", async () => {
    const folder = await group({ t: array, u: array });
    await writeFile(join(folder, "t/.zarray"), "{");
    await rm(join(folder, "u/0.0"));
    await writeFile(join(folder, "u/0.9"), "");
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "error", what: "metadata", path: "t", key: "t/.zarray" }),
      expect.objectContaining({ level: "warning", what: "outside-grid", path: "u", key: "u/0.9" }),
    ]);
  });

  it("of the root that cannot be read are an error, too", async () => {
    const folder = await group();
    await writeFile(join(folder, ".zgroup"), '{"zarr_format": 7}');
    expect(await findings(folder)).toEqual([expect.objectContaining({ level: "error", what: "metadata" })]);
  });

  it("that readers go on over are a warning", async () => {
    const folder = await group();
    await writeFile(join(folder, "t/.zattrs"), '{"missing": NaN}');
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "warning", what: "metadata", path: "t", pointer: "/missing" }),
    ]);
  });

  it("are missed of ancestors, and of attributes that describe nothing", async () => {
    const folder = await group({ "a/b/t": array });
    await mkdir(join(folder, "lone"));
    await writeFile(join(folder, "lone/.zattrs"), "{}");
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "warning", what: "implied-group", path: "a" }),
      expect.objectContaining({ level: "warning", what: "implied-group", path: "a/b" }),
      expect.objectContaining({ level: "warning", what: "lone-attributes", path: "lone" }),
    ]);
  });

  it("inside an array, and of another format, are a warning", async () => {
    const folder = await group();
    await writeV2Array(join(folder, "t/inner"), array);
    await writeFile(join(folder, "t/zarr.json"), "{}");
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "warning", what: "inside-array", path: "t/inner" }),
      expect.objectContaining({ level: "warning", what: "foreign-document", key: "t/zarr.json" }),
    ]);
  });

  it("of another format beside the root's are a warning, also under names that its own format does not know", async () => {
    const folder = await group();
    await writeFile(join(folder, "meta"), "x");
    const message = expect.stringMatching(/^meta of another format/);
    expect(await faults(folder)).toContainEqual(expect.objectContaining({ level: "warning", message }));
  });
});

describe("consolidated metadata", () => {
  async function consolidated(): Promise<string> {
    const folder = await group({ t: array, u: array });
    const document = async (key: string) => [key, JSON.parse(await readFile(join(folder, key), "utf8"))];
    const keys = [".zgroup", ".zattrs", "t/.zarray", "t/.zattrs", "u/.zarray", "u/.zattrs"];
    const metadata = Object.fromEntries(await Promise.all(keys.map(document)));
    await writeFile(join(folder, ".zmetadata"), JSON.stringify({ metadata, zarr_consolidated_format: 1 }));
    return folder;
  }

  it("that are true are in order", async () => {
    expect(await findings(await consolidated())).toEqual([]);
  });

  it("of v3 that are true are in order, and stale ones an error", async () => {
    const folder = await consolidated();
    const target = join(folder, "../v3.zarr");
    await convert(folder, target, { to: "v3" });
    expect(await findings(target)).toEqual([]);
    const document = await readFile(join(target, "u/zarr.json"), "utf8");
    await writeFile(join(target, "u/zarr.json"), document.replace('"y"', '"z"'));
    expect(await findings(target)).toEqual([
      expect.objectContaining({ level: "error", what: "stale-consolidated", path: "", key: "u/zarr.json" }),
    ]);
  });

  it("are stale when nodes come, go or change", async () => {
    const folder = await consolidated();
    await writeV2Array(join(folder, "new"), array);
    await rm(join(folder, "t"), { recursive: true });
    await writeFile(join(folder, "u/.zattrs"), '{"_ARRAY_DIMENSIONS": ["y", "z"]}');
    const error = { level: "error", what: "stale-consolidated", path: "" };
    expect(await findings(folder)).toEqual([
      { ...error, key: "new/.zattrs", count: 2, message: expect.stringContaining("do not list it") },
      { ...error, key: "t/.zarray", count: 2, message: expect.stringContaining("does not exist") },
      { ...error, key: "u/.zattrs", message: expect.stringContaining("differ from the document") },
    ]);
  });

  it("that are broken are an error", async () => {
    const folder = await consolidated();
    await writeFile(join(folder, ".zmetadata"), "[]");
    expect(await findings(folder)).toEqual([
      expect.objectContaining({ level: "error", what: "stale-consolidated", key: ".zmetadata" }),
    ]);
  });

  it("that are the only ones are a warning", async () => {
    const folder = await consolidated();
    for (const key of [".zgroup", ".zattrs", "t/.zarray", "t/.zattrs", "u/.zarray", "u/.zattrs"]) {
      await rm(join(folder, key));
    }
    expect(await findings(folder)).toEqual([expect.objectContaining({ level: "warning", what: "metadata" })]);
  });

  it("of v3 that are the only ones are a warning, and chunks below are still known", async () => {
    const folder = await consolidated();
    const target = join(folder, "../v3.zarr");
    await convert(folder, target, { to: "v3" });
    for (const name of ["t", "u"]) await rm(join(target, name, "zarr.json"));
    await writeFile(join(target, "t/c/0/9"), "");
    expect(await findings(target, { deep: true })).toEqual([
      expect.objectContaining({ level: "warning", what: "metadata", path: "" }),
      expect.objectContaining({ level: "warning", what: "outside-grid", path: "t", key: "t/c/0/9" }),
    ]);
  });
});

describe("keys", () => {
  it("that belong to nothing are reported together, those of the grid's outside as a warning", async () => {
    const folder = await group();
    for (const key of ["t/notes", "t/sub/notes", "t/2.0", "t/0.2", "README"]) {
      await mkdir(join(folder, "t/sub"), { recursive: true });
      await writeFile(join(folder, key), "x");
    }
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "info", what: "unknown-key", path: "", key: "README" }),
      expect.objectContaining({ level: "warning", what: "outside-grid", path: "t", key: "t/0.2", count: 2 }),
      expect.objectContaining({ level: "info", what: "unknown-key", path: "t", key: "t/notes", count: 2 }),
    ]);
  });

  it("that are written with another separator are a warning", async () => {
    const folder = await group();
    await mkdir(join(folder, "t/1"));
    await rename(join(folder, "t/1.0"), join(folder, "t/1/0"));
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "warning", what: "other-separator", path: "t", key: "t/1/0" }),
    ]);
  });
});

describe("chunks", () => {
  it("of a wrong length are found without decoding where all have one", async () => {
    const folder = await group();
    await truncate(join(folder, "t/1.1"), 5);
    expect(await faults(folder)).toEqual([
      expect.objectContaining({ level: "error", what: "chunk-size", path: "t", key: "t/1.1" }),
    ]);
  });

  it("that cannot be decoded are found when every one is", async () => {
    const folder = await group({ t: { ...array, compressor: { id: "zlib", level: 1 } } });
    expect(await faults(folder)).toEqual([]);
    const events: number[] = [];
    const found = await faults(folder, { deep: true, onEvent: ({ bytes }) => events.push(bytes) });
    expect(found.map(({ what, key }) => `${what} ${key}`).sort()).toEqual(
      ["0.0", "0.1", "1.0", "1.1"].map((key) => `broken-chunk t/${key}`),
    );
    expect(Math.max(...events)).toBe(96);
    await truncate(join(folder, "t/0.0"), 0);
    expect(await faults(folder)).toEqual([expect.objectContaining({ what: "chunk-size", key: "t/0.0" })]);
  });

  it("of codecs that are not known are reported once", async () => {
    const folder = await group({ t: { ...array, compressor: { id: "my-codec" } } });
    expect(await faults(folder, { deep: true })).toEqual([
      expect.objectContaining({ level: "warning", what: "metadata", path: "t" }),
    ]);
  });
});

describe("dimensions", () => {
  const longer = { ...array, shape: [5, 6], items: ramp(30) };

  it("with two lengths in one group are reported, and a skip that would make them is refused", async () => {
    const [short, long] = [await group({ t: array }), await group({ t: longer, u: longer })];
    await expect(copy(long, short, { ifExists: "skip" })).rejects.toMatchObject({
      code: "differs",
      details: { path: "u", expected: "4 items, as in t", found: "5 items" },
    });
    expect(await faults(short)).toEqual([]);
    const mixed = await group({ t: array, u: longer });
    const found = [
      {
        level: "warning",
        what: "dimension-lengths",
        path: "",
        message: 'the dimension "y" has 4 items in t and 5 in u: xarray cannot open the group',
      },
    ];
    expect(await faults(mixed)).toEqual(found);
    // the source has it itself
    const same = await group({ t: array });
    await copy(mixed, same, { ifExists: "skip" });
    expect(await faults(same)).toEqual(found);
  });

  it("may differ between the levels of an image, and between groups", async () => {
    const folder = join(await testFolder(), "image.zarr");
    await writeV2Group(folder, { 0: longer, 1: array });
    const datasets = [{ path: "0" }, { path: "1" }];
    await writeFile(join(folder, ".zattrs"), JSON.stringify({ multiscales: [{ version: "0.4", datasets }] }));
    expect((await faults(folder)).filter(({ what }) => what === "dimension-lengths")).toEqual([]);
    const outer = await group({ t: array });
    await writeV2Group(join(outer, "inner"), { t: longer });
    expect((await faults(outer)).filter(({ what }) => what === "dimension-lengths")).toEqual([]);
  });
});

describe("a zip", () => {
  it("reports entries that occur twice", async () => {
    const folder = await testFolder();
    const document = new TextEncoder().encode(JSON.stringify({ zarr_format: 2 }));
    const entries = [1, 2].map(() => ({ name: ".zgroup", value: document }));
    await writeFile(join(folder, "g.zip"), buildZip(entries));
    expect(await faults(join(folder, "g.zip"))).toEqual([
      expect.objectContaining({ level: "warning", what: "zip-entry", key: ".zgroup" }),
    ]);
  });
});

it("fails with not-found where nothing is", async () => {
  await expect(findings(join(await testFolder(), "no.zarr"))).rejects.toMatchObject({ code: "not-found" });
});

describe("missing values", () => {
  const told = async (url: string, options?: ValidateOptions) =>
    (await faults(url, options)).map(({ level, what, path, key, pointer }) => ({
      level,
      what,
      path,
      key,
      pointer,
    }));
  const missing = { what: "missing-value", path: "t" } as const;

  it("of 0 where nobody asked for it are worth knowing, and a warning where a 0 is stored", async () => {
    const url = await group({ t: { ...array, fillValue: 0 } });
    const info = { ...missing, level: "info", key: undefined, pointer: "/fill_value" };
    expect(await told(url)).toEqual([info]);
    const stored = { ...missing, level: "warning", key: "t/0.0", pointer: undefined };
    expect(await told(url, { deep: true })).toEqual([info, stored]);
    const ones = await group({ t: { ...array, fillValue: 0, items: ramp(24).map((n) => n + 1) } });
    expect(await told(ones, { deep: true })).toEqual([info]);
  });

  it.each([
    ["false", "|b1", false, Uint8Array.of(1, 0), Uint8Array.of(1, 1)],
    ['""', "<U2", "", Uint32Array.of(97, 98, 0, 0), Uint32Array.of(97, 98, 97, 0)],
    ['""', "|O", "", ["a", ""], ["a", "\0"]],
    ["0", "<c8", [0, 0], Float32Array.of(1, 0, 0, 0), Float32Array.of(1, 0, 0, 1)],
  ])("of %s are found as well: %s", async (zero, dtype, fillValue, stored, others) => {
    const messages = async (items: ArrayBufferView | string[]) => {
      const pair = { shape: [2], chunks: [2], dimensions: ["x"], dtype, fillValue, items };
      const found = await faults(await group({ t: pair }), { deep: true });
      return found.map(({ level, message }) => `${level}: ${message}`);
    };
    const info = `info: readers of the CF conventions treat every stored ${zero} as missing: it is the fill value`;
    const warning = `warning: holds ${zero}, which readers of the CF conventions treat as missing: it is the fill value`;
    expect(await messages(stored)).toEqual([info, warning]);
    expect(await messages(others)).toEqual([info]);
  });

  it("of 0 are a warning of packed data", async () => {
    const url = await group({ t: { ...array, fillValue: 0, attributes: { scale_factor: 0.1 } } });
    expect(await told(url)).toEqual([
      { ...missing, level: "warning", key: undefined, pointer: "/fill_value" },
    ]);
  });

  it("do not count items beyond the array's edge", async () => {
    const items = ramp(9).map((n) => n + 1);
    const url = await group({ t: { ...array, shape: [3, 3], chunks: [2, 2], items, fillValue: 0 } });
    expect((await told(url, { deep: true })).map(({ level }) => level)).toEqual(["info"]);
  });

  it.each([
    ["null", { fillValue: null }],
    ["chosen", { fillValue: -999 }],
    ["0 that an attribute states", { fillValue: 0, attributes: { _FillValue: 0 } }],
    ["0 without dimension names", { fillValue: 0, dimensions: undefined }],
  ])("that are %s are in order", async (_, change) => {
    const { dimensions, ...rest } = { ...array, ...change };
    const url = await group({ t: { ...rest, ...(dimensions && { dimensions }) } });
    expect(await told(url, { deep: true })).toEqual([]);
  });

  it("that the attribute says otherwise than the fill value are a warning", async () => {
    const url = await group({ t: { ...array, fillValue: -1, attributes: { _FillValue: -2 } } });
    const pointer = "/attributes/_FillValue";
    expect(await told(url)).toEqual([{ ...missing, level: "warning", key: undefined, pointer }]);
  });

  it("in v3 that xarray cannot read are a warning", async () => {
    const url = await group({ t: { ...array, fillValue: 7 } });
    const v3 = join(await testFolder(), "v3.zarr");
    await convert(url, v3, { to: "v3" });
    expect(await told(v3)).toEqual([]);
    const document = join(v3, "t/zarr.json");
    const text = await readFile(document, "utf8");
    await writeFile(document, text.replace(/"_FillValue": "[^"]*"/, '"_FillValue": 7.0'));
    const pointer = "/attributes/_FillValue";
    expect(await told(v3)).toEqual([{ ...missing, level: "warning", key: undefined, pointer }]);
  });
});

describe("a server that cannot list", () => {
  /** What is found with `deep` of an array on a server, once its values were changed. */
  async function served(
    change: (chunks: Map<string, Uint8Array>) => void,
    {
      chunks,
      ...manners
    }: Manners & { readonly chunks?: { readonly chunks: number[]; readonly shards: number[] } } = {},
  ): Promise<ValidateFinding[]> {
    const store = new MemoryStore();
    await convert(join(await group(), "t"), store, { to: "v3", codec: "zstd", ...chunks });
    const values = await valuesIn(store, "data");
    change(values);
    const server = await serveValues(values, manners);
    const found: ValidateFinding[] = [];
    try {
      for await (const finding of validate(`${server.url}/data`, { deep: true })) found.push(finding);
    } finally {
      await server.close();
    }
    return found.filter(({ what }) => what !== "no-consolidated" && what !== "not-checked");
  }

  const garbage = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);

  it("has its chunks read by key and decoded", async () => {
    expect(await served(() => {})).toEqual([]);
    expect(await served((values) => values.set("data/c/1/0", garbage))).toEqual([
      expect.objectContaining({ level: "error", what: "broken-chunk", path: "", key: "c/1/0" }),
    ]);
  });

  it("has its shards read by key and decoded", async () => {
    const chunks = { chunks: [2, 3], shards: [4, 3] };
    expect(await served(() => {}, { chunks })).toEqual([]);
    expect(await served((values) => values.set("data/c/0/1", garbage), { chunks })).toEqual([
      expect.objectContaining({ level: "error", what: "broken-chunk", path: "", key: "c/0/1" }),
    ]);
  });

  it("has chunks that are missing counted", async () => {
    expect(await served((values) => values.delete("data/c/1/0"))).toEqual([
      expect.objectContaining({ level: "info", what: "missing-chunks", path: "", count: 1 }),
    ]);
  });

  it.each(["denied", "page"] as const)("is told of where chunks are %s", async (missing) => {
    const lacking = (values: Map<string, Uint8Array>) => {
      for (const key of ["data/c/1/0", "data/c/1/1"]) values.delete(key);
    };
    expect(await served(lacking, { missing })).toEqual([
      expect.objectContaining({ level: "error", what: "unreadable", path: "", key: "c/1/0", count: 2 }),
    ]);
  });
});
