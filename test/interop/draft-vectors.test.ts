import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { formatNamed } from "../../src/meta/formats.ts";
import { parseNumpyType } from "../../src/meta/v2/data-type.ts";
import { parseDraftFill } from "../../src/meta/v3-draft/fill-value.ts";
import { brokenDraftName } from "../../src/meta/v3-draft/layout.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { ListableStore, WritableStore } from "../../src/stores/store.ts";
import { failure, hex, json } from "../meta/helpers.ts";
import { testFolder } from "../support/cli.ts";
import { hasShared, shared } from "./shared.ts";

const FORMAT = "3-draft-2019";
const draft = formatNamed("v3-draft-2019");

function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(`${shared}corpus-legacy/vectors/${name}.json`, "utf8"));
}

describe.runIf(hasShared)("tables of the draft of 2019", () => {
  it("node names of the table are allowed, or refused", () => {
    const { [FORMAT]: names } =
      vectors<Record<string, { valid: string[]; invalid: [string, string][] }>>("node-names");
    for (const name of names?.valid ?? []) expect(brokenDraftName(name), name).toBeUndefined();
    for (const [name] of names?.invalid ?? []) expect(brokenDraftName(name), name).toBeDefined();
    expect(names?.invalid.length).toBeGreaterThan(5);
  });

  it("documents and chunks lie at the keys of the table", () => {
    type Row = { zarr_format: string; path: string | null; kind: string; index?: number[]; key: string };
    const rows = vectors<Row[]>("storage-keys").filter(({ zarr_format }) => zarr_format === FORMAT);
    for (const { path, kind, index = [], key } of rows) {
      const layout = draft.layout(path ?? "");
      const [array, group] = layout.documentKeys;
      const chunk = layout.chunkKey(index, { name: "plain", separator: "." });
      const [bootstrap] = layout.hierarchy.sharedKeys;
      expect({ array, group, chunk, bootstrap }[kind]).toBe(key);
    }
    expect(rows.length).toBeGreaterThan(5);
  });

  it("chunk keys are those of the table", () => {
    type Row = { zarr_format: string; separator: "." | "/"; index: number[]; key: string };
    const rows = vectors<Row[]>("chunk-keys").filter(({ zarr_format }) => zarr_format === FORMAT);
    for (const { separator, index, key } of rows) {
      expect(draft.layout("a").chunkKey(index, { name: "plain", separator })).toBe(`data/a/${key}`);
    }
    expect(rows.length).toBeGreaterThan(2);
  });

  it("fill values are read, or refused, as in the table", () => {
    type Row = { zarr_formats: string[]; dtype: string; json_text?: string; le_hex?: string; error?: string };
    const text = readFileSync(`${shared}corpus-legacy/vectors/fill-values.json`, "utf8");
    const tokens = json(text) as unknown as { json: Parameters<typeof parseDraftFill>[0] }[];
    const rows = (JSON.parse(text) as Row[]).map((row, i) => ({ ...row, token: tokens[i]?.json ?? null }));
    const mine = rows.filter(({ zarr_formats }) => zarr_formats.includes(FORMAT));
    for (const { dtype, json_text, token, le_hex, error } of mine) {
      const fill = json_text === undefined ? token : json(json_text);
      const parse = () => parseDraftFill(fill, typeNamed(dtype), "/fill_value");
      if (error) expect(failure(parse).code, dtype).toBe(error);
      else expect(hex(parse()), dtype).toBe(le_hex);
    }
    expect(mine.length).toBeGreaterThan(20);
  });

  type Listing = {
    keys: string[];
    op: string;
    prefix: string;
    result_keys: string[];
    result_prefixes?: string[];
    note?: string;
  };
  const listings = hasShared ? vectors<Listing[]>("store-ops") : [];
  test.each(listings)(
    "listings are those of the table: $op $prefix of $keys",
    async ({ keys, op, prefix, note, ...result }) => {
      const stores: (ListableStore & WritableStore)[] = [new MemoryStore()];
      if (!note?.includes("file system")) stores.push(new DirectoryStore(await testFolder()));
      for (const store of stores) {
        for (const key of keys) await store.set(key, Uint8Array.of(1));
        const found = { keys: [] as string[], prefixes: [] as string[] };
        const entries = op === "list_dir" ? store.listDirectory(prefix) : store.list(prefix);
        for await (const entry of entries) {
          if ("prefix" in entry) found.prefixes.push(entry.prefix);
          else found.keys.push(entry.key);
        }
        expect(found).toEqual({ keys: result.result_keys, prefixes: result.result_prefixes ?? [] });
      }
    },
  );
});

function typeNamed(name: string) {
  const [, kind = "", bits = "8"] = /^(bool|int|uint|float)(\d*)$/.exec(name) ?? [];
  const letter = { bool: "b", int: "i", uint: "u", float: "f" }[kind] ?? "";
  return parseNumpyType(
    kind === "bool" ? "|b1" : `${bits === "8" ? "|" : "<"}${letter}${Number(bits) / 8}`,
    "",
  ).dataType;
}
