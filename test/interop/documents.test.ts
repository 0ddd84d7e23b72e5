import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { readConsolidatedV2, writeConsolidatedV2 } from "../../src/meta/consolidated.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { jsonEqual } from "../../src/util/json-value.ts";
import { objectOf, rewritten } from "./rewritten.ts";
import { hasShared, shared } from "./shared.ts";

function* foldersBelow(folder: string): Generator<string> {
  yield folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* foldersBelow(join(folder, entry.name));
  }
}

describe.runIf(hasShared)("documents of real stores, read and written again", () => {
  test.each([
    ["corpus/data/v1", "v1", 12],
    ["corpus-legacy/v1", "v1", 100],
    ["corpus/data/v2", "v2", 480],
    ["corpus/data/v3", "v3", 330],
    ["corpus-legacy/ogc-v2", "v2", 35],
    ["corpus-legacy/zep0007", "v3", 55],
    ["data", "v2", 5],
    ["data", "v3", 5],
  ] as const)("say the same: %s as %s", (root, name, least) => {
    const zarrFormat = formatNamed(name);
    const layout = zarrFormat.layout("");
    const [different, refused]: [string[], string[]] = [[], []];
    let nodes = 0;
    for (const folder of foldersBelow(join(shared, root))) {
      const keys = layout.documentKeys.filter((key) => existsSync(join(folder, key)));
      const documents = new Map(keys.map((key) => [key, new Uint8Array(readFileSync(join(folder, key)))]));
      try {
        const node = zarrFormat.parse(documents, layout);
        if (node === undefined) continue;
        nodes++;
        const hasBareNaN = node.findings.some(({ message }) => message.startsWith("a bare NaN"));
        for (const [key, now] of zarrFormat.write(node.metadata, layout, { allowLoss: ["/attributes"] })) {
          const before = documents.get(key);
          if (key === "attrs" && !before) continue; // always written: V1-2
          if (key === ".zattrs" && hasBareNaN) continue;
          const wanted = before && rewritten(key, objectOf(before), node.metadata);
          if (!wanted || !jsonEqual(wanted, objectOf(now)))
            different.push(join(relative(shared, folder), key));
        }
      } catch (error) {
        if (!isZarrflowError(error)) throw error;
        refused.push(`${relative(shared, folder)}: ${error.code}`);
      }
    }
    expect(different).toEqual([]);
    expect(nodes).toBeGreaterThan(least);
    const known = /\/err-|object.zarr\/pickle:|layout.zarr\/rectilinear:/;
    expect(refused.filter((one) => !known.test(one))).toEqual([]);
  });

  test("consolidated documents are as the reference writes them, some byte for byte", () => {
    const folders = [...foldersBelow(join(shared, "corpus/data/v2"))];
    const files = folders.map((folder) => join(folder, ".zmetadata")).filter((file) => existsSync(file));
    const pairs = files.map((file) => {
      const before = readFileSync(file);
      return { before, now: writeConsolidatedV2(readConsolidatedV2(before, ""), "") };
    });
    for (const { before, now } of pairs) expect(jsonEqual(objectOf(before), objectOf(now))).toBe(true);
    expect(pairs.some(({ before, now }) => before.equals(now))).toBe(true);
  });
});
