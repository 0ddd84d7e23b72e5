import { mkdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { convert, type ErrorCode, EXIT_CODES, isZarrflowError, open, rechunk } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { REACHED } from "./reached-codes.ts";
import { failureOf, type Row, refused, testRows } from "./rows.ts";
import { hex, nodeIn, opens, storeOf, valuesIn } from "./stores.ts";
import { bytes as bytesOfV2, ZARRAY } from "./v2/kit.ts";
import { bytes, GZIP, sharding } from "./v3-final/kit.ts";

const folder = temporaryFolder();

describe("the closed list of codes", () => {
  const codes = Object.keys(EXIT_CODES) as ErrorCode[];

  it.each(codes)("%s is what a call ends with, and its exit code", async (code) => {
    const place = folder.next("");
    mkdirSync(place, { recursive: true });
    const error = await failureOf(() => REACHED[code](place));
    expect(error.message, error.message).not.toBe("");
    expect(error).toMatchObject({ code, exitCode: EXIT_CODES[code] });
  });
});

describe("what errors of one code have among their details", () => {
  const chunk = hex("01020304");

  it("budget-too-small: the smallest budget that is enough", async () => {
    const rechunked = async (maxMemory: number) =>
      rechunk(await nodeIn(bytes(4, {}, chunk)), new MemoryStore(), { chunks: [2], maxMemory });
    const error = await failureOf(() => rechunked(1));
    if (!isZarrflowError(error, "budget-too-small")) throw error;
    const { neededBytes } = error.details;
    await expect(rechunked(neededBytes - 1)).rejects.toMatchObject({ details: { neededBytes } });
    expect((await rechunked(neededBytes)).keysWritten).toBeGreaterThan(0);
  });

  it("loss-refused: the pointers that allowLoss takes", async () => {
    const converted = async (allowLoss: readonly string[]) => {
      const source = bytes(4, { ext: { must_understand: false } }, chunk);
      return convert(await nodeIn(source), new MemoryStore(), { to: "v2", allowLoss });
    };
    const error = await failureOf(() => converted([]));
    if (!isZarrflowError(error, "loss-refused")) throw error;
    expect(error.details.pointers).toContain("/ext");
    expect((await converted(error.details.pointers)).keysWritten).toBeGreaterThan(0);
  });
});

const long = "x".repeat(200);
const store = "memory";

const rows: Row[] = [
  [
    "metadata",
    "format, path, key, pointer, value",
    () => nodeIn({ "a/.zarray": { ...ZARRAY, order: "K" } }, "a"),
    refused("invalid-metadata", {
      format: "v2",
      path: "a",
      key: "a/.zarray",
      pointer: "/order",
      value: '"K"',
      store,
    }),
  ],
  [
    "metadata",
    "no JSON",
    () => nodeIn({ "a/.zarray": "{" }, "a"),
    refused("invalid-metadata", { format: "v2", path: "a", key: "a/.zarray", pointer: "" }),
  ],
  [
    "metadata",
    "a codec that is not known",
    () => opens(bytes(2, { codecs: ["bytes", "nosuch"] })),
    refused("unsupported-codec", {
      format: "v3",
      path: "",
      key: "zarr.json",
      pointer: "/codecs/1",
      codec: "nosuch",
    }),
  ],
  [
    "metadata",
    "a setting of a codec",
    () => opens(bytesOfV2(2, { compressor: { id: "crc32", location: "top" } })),
    refused("invalid-metadata", {
      ...{ format: "v2", path: "", key: ".zarray", pointer: "/compressor/location" },
      ...{ codec: "crc32", setting: "location", value: "top" },
    }),
  ],
  [
    "chunks",
    "path, key, coords, codec, expected, found",
    () => valuesIn(bytes(4, { codecs: ["bytes", GZIP] }, gzipSync(hex("010203")))),
    refused("corrupt-chunk", { path: "", key: "c/0", coords: [0], codec: "gzip", expected: 4, found: 3 }),
  ],
  [
    "chunks",
    "of shards",
    () => valuesIn(bytes(4, { codecs: [sharding()] }, hex("0102"))),
    refused("corrupt-chunk", { path: "", key: "c/0", expected: 36, found: 2 }),
  ],
  [
    "paths",
    "path and segment",
    () => nodeIn({}, "a/../b"),
    refused("path-not-allowed", { path: "a/../b", value: ".." }),
  ],
];

describe("what errors carry", () => {
  testRows(rows);

  it("values are shortened to 80 characters", async () => {
    const error = await failureOf(() => nodeIn({ ".zarray": { ...ZARRAY, order: long } }));
    expect(error.details.value).toHaveLength(80);
    expect(error.details.value).toMatch(/^"x+…$/);
  });

  it("a missing node lists the keys that were tried", async () => {
    const error = await failureOf(async () => open({ store: await storeOf({}), path: "a" }));
    expect(error.code).toBe("not-found");
    for (const key of ["a/zarr.json", "a/.zarray", "a/.zgroup", "a/meta"]) {
      expect(error.details.found).toContain(key);
    }
  });
});
