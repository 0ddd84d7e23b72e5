import { join } from "node:path";
import { expect, test } from "vitest";
import type { PyramidMethod } from "../../src/flows/pyramid.ts";
import { pyramid } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

interface Case {
  readonly name: string;
  readonly methods: readonly PyramidMethod[];
  readonly axes: string;
  readonly factors: Readonly<Record<string, number>>;
}

test.runIf(hasPython)(
  "levels are what NumPy makes of the one before, by every method, of many types, shapes and missing values",
  async () => {
    const cases = (await runPython("pyramid_cases.py", "write", folder.path)) as readonly Case[];
    expect(cases.length).toBe(50);
    for (const [i, { name, methods, axes, factors }] of cases.entries()) {
      for (const method of methods) {
        const place = (file: string) => join(folder.path, name, file);
        // half of them within so little memory that levels are put together of blocks
        const maxMemory = i % 2 ? "256MB" : 400_000;
        const options = { method, axes, factor: factors, levels: 4, maxMemory };
        await pyramid(place("source.zarr"), place(`${method}.zarr`), options);
      }
    }
    const { differing, compared } = (await runPython("pyramid_cases.py", "compare", folder.path)) as {
      differing: unknown;
      compared: number;
    };
    expect(differing).toEqual({});
    expect(compared).toBeGreaterThan(400);
  },
  600_000,
);
