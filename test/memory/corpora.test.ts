// @module-tag long
// @module-tag alone
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { hasShared, shared } from "../interop/shared.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOfNode } from "./peak-memory.ts";

const folder = temporaryFolder();
const script = fileURLToPath(new URL("read-corpora.mjs", import.meta.url));

interface KeyEntry {
  readonly path: string;
  readonly array?: string | null;
  readonly group?: string;
  readonly slice?: readonly (readonly number[])[];
  readonly array_path?: string;
  readonly tags?: readonly string[];
}

/** What is made to take long, or much memory, must be refused at once. */
function patience({ tags = [] }: KeyEntry): number {
  return tags.some((tag) => ["security", "resource-limit", "bomb"].includes(tag)) ? 5 : 30;
}

/** What there is to read, by corpus. */
const corpora = {
  corpus: () =>
    listed("corpus", "cases").map((entry) => ({
      url: `${shared}corpus/${entry.path}/${entry.array ?? entry.group ?? ""}`,
      selection: entry.slice,
      seconds: patience(entry),
    })),
  "corpus-legacy": () =>
    listed("corpus-legacy", "entries")
      .filter(({ path }) => path !== undefined)
      .map((entry) => ({
        url: `${shared}corpus-legacy/${entry.path}/${entry.array_path ?? ""}`,
        seconds: patience(entry),
      })),
};

function listed(corpus: string, list: string): readonly KeyEntry[] {
  return JSON.parse(readFileSync(`${shared}${corpus}/manifest.json`, "utf8"))[list];
}

describe.runIf(hasShared)("the corpora", () => {
  describePeaks("peak resident memory of a process that reads", () => {
    test.each(Object.entries(corpora))(
      "all of %s, bombs and huge shapes among them",
      async (name, list) => {
        const file = join(folder.path, `${name}.jsonl`);
        const lines = list();
        writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
        await expectPeaks(`a process that reads ${lines.length} of ${name}`, { peak: 300 * MB }, () =>
          peakMemoryOfNode(script, file),
        );
      },
      900_000,
    );
  });
});
