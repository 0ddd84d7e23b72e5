import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requireBuild } from "../built-package.ts";
import { hasShared, shared } from "../interop/shared.ts";
import { peakMemoryOfNode } from "./peak-memory.ts";

const MB = 1e6;
const script = fileURLToPath(new URL("read-corpora.mjs", import.meta.url));

interface Listed {
  readonly path: string;
  readonly array?: string | null;
  readonly group?: string;
  readonly slice?: readonly (readonly number[])[];
  readonly array_path?: string;
}

/** What there is to read, by corpus. */
const corpora = {
  corpus: () =>
    listed("corpus", "cases").map(({ path, array, group, slice }) => ({
      url: `${shared}corpus/${path}/${array ?? group ?? ""}`,
      selection: slice,
    })),
  "corpus-legacy": () =>
    listed("corpus-legacy", "entries")
      .filter(({ path }) => path !== undefined)
      .map(({ path, array_path = "" }) => ({ url: `${shared}corpus-legacy/${path}/${array_path}` })),
};

function listed(corpus: string, list: string): readonly Listed[] {
  return JSON.parse(readFileSync(`${shared}${corpus}/manifest.json`, "utf8"))[list];
}

describe.runIf(hasShared && process.platform === "linux")(
  "peak resident memory of a process that reads",
  () => {
    let folder: string;
    beforeAll(() => {
      requireBuild();
      folder = mkdtempSync(join(tmpdir(), "zarrflow-corpora-"));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test.each(Object.entries(corpora))(
      "all of %s, bombs and huge shapes among them",
      async (name, list) => {
        const file = join(folder, `${name}.jsonl`);
        const lines = list();
        writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
        const peak = await peakMemoryOfNode(script, file);
        console.log(`VmHWM over ${lines.length} of ${name}: ${Math.round(peak / MB)} MB`);
        expect(peak).toBeLessThan(300 * MB);
      },
      300_000,
    );
  },
);
