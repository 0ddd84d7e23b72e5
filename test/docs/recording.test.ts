// @module-tag long
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linesLeft } from "../../scripts/terminal.mjs";
import { requireBuild, root } from "../built-package.ts";
import { hasProgram } from "../support/programs.ts";
import { read } from "./code-block.ts";

const CAST = "docs/pictures/demo.cast";
const PICTURE = "docs/pictures/demo.svg";

/** What differs from run to run: times, rates, and the memory that a process takes. */
const MEASURED = [
  /\d+(?:\.\d+)? (?:ms|s|min)\b/g,
  /\d+(?:\.\d+)? [kMG]?B\/s/g,
  /at most \d+ MB of/g,
  /\d+ MB(?= in the whole process| of memory)/g,
];
type Event = readonly [number, "o", string];

interface Cast {
  readonly header: Readonly<Record<string, unknown>>;
  readonly events: readonly Event[];
}

function parse(text: string): Cast {
  const [header, ...events] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { header, events };
}

/** The lines as they are left. */
function printed({ events }: Cast): string[] {
  const text = events.map(([, , piece]) => piece).join("");
  return linesLeft(text).map(withoutMeasured);
}

function withoutMeasured(text: string): string {
  return MEASURED.reduce((rest, pattern) => rest.replace(pattern, "N"), text);
}

/** The text of a picture, however its lines are broken. */
function textOf(picture: string): string {
  const lines = [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = ""]) => line);
  return withoutMeasured(lines.join(""));
}

describe("the recording in the README", () => {
  const recorded = parse(read(CAST));

  test("is an asciicast of version 2 that takes 60 seconds", () => {
    expect(recorded.header).toMatchObject({ version: 2, width: 100, height: 30 });
    let last = 0;
    for (const [time, kind, text] of recorded.events) {
      expect(time).toBeGreaterThanOrEqual(last);
      expect(kind).toBe("o");
      expect(typeof text).toBe("string");
      last = time;
    }
    expect(last).toBe(60);
    expect(recorded.events.length).toBeGreaterThan(300);
  });

  test("is shown and linked", () => {
    expect(read("README.md")).toContain(`](${PICTURE})`);
    expect(read("README.md")).toContain(`](${CAST})`);
  });

  describe.runIf(hasProgram("script"))("made again", () => {
    let folder: string;
    beforeAll(async () => {
      requireBuild();
      folder = mkdtempSync(join(tmpdir(), "zarrflow-recording-"));
      await promisify(execFile)(process.execPath, [join(root, "scripts/record.mjs"), folder]);
    }, 240_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test("prints the same, apart from what is measured", () => {
      const made = parse(readFileSync(join(folder, "demo.cast"), "utf8"));
      expect(made.header).toEqual(recorded.header);
      expect(printed(made)).toEqual(printed(recorded));
      expect(printed(made).length).toBeGreaterThan(40);
      expect(made.events.at(-1)?.[0]).toBe(60);
    });

    test("has the same picture", () => {
      const made = readFileSync(join(folder, "demo.svg"), "utf8");
      expect(textOf(made)).toBe(textOf(read(PICTURE)));
      expect(textOf(made)).toContain("zarrflow tree weather.zarr");
    });
  });
});
