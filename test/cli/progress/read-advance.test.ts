import { expect, it } from "vitest";
import type { ProgressUpdate } from "../../../src/cli/progress/progress-update.ts";
import { readProgress } from "../../../src/cli/progress/read-progress.ts";

it("shows each array by itself, and the bytes of all, in whatever order they come", () => {
  const shown: ProgressUpdate[] = [];
  const note = readProgress((advance) => shown.push(advance));
  note({ type: "read", path: "t", bytes: 1000, allBytes: 4000 });
  note({ type: "read", path: "u", bytes: 500, allBytes: undefined });
  note({ type: "read", path: "t", bytes: 4000, allBytes: 4000 });
  note({ type: "read", path: "", bytes: 1, allBytes: undefined });
  expect(shown).toEqual([
    { bytes: 1000, words: ["t", "1.0 kB of 4.0 kB"] },
    { bytes: 1500, words: ["u", "500 B"] },
    { bytes: 4500, words: ["t", "4.0 kB of 4.0 kB"] },
    { bytes: 4501, words: ["1 B"] },
  ]);
});
