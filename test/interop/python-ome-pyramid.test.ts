import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pyramid } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

interface Read {
  readonly version: string;
  readonly nodes: Readonly<Record<string, ImageRead>>;
}

interface ImageRead {
  readonly axes: readonly { readonly name: string; readonly unit?: string }[];
  readonly transformations: readonly (readonly {
    readonly scale?: readonly number[];
    readonly translation?: readonly number[];
  }[])[];
  readonly channels: readonly string[] | null;
  readonly levels: readonly (readonly [shape: readonly number[], dataType: string, sha256: string])[];
}

describe.runIf(hasPython)("pyramids of images that ome-zarr-py wrote", () => {
  test("ome-zarr-models finds them valid, and ome-zarr-py reads levels, axes, channels and transformations", async () => {
    const sources = folder.next("sources");
    await runPython("ome_images.py", "write", sources);
    const names = ["0.4", "0.5"].flatMap((version) =>
      ["2d", "3d", "4d", "5d"].map((name) => `${name}-${version}`),
    );
    const made = (name: string) => join(sources, `pyramid-${name}.zarr`);
    const left: (string | undefined)[] = [];
    for (const name of names) {
      const onEvent = (event: { type: string; path?: string }) => {
        if (event.type === "warning") left.push(event.path);
      };
      const factor = name.includes("z") ? { z: 1, y: 2, x: 2 } : 2;
      await pyramid(join(sources, `${name}.zarr`), made(name), { factor, levels: 3, onEvent });
    }
    expect(left).toEqual(["labels", "labels"]);
    const paths = names.flatMap((name) => [join(sources, `${name}.zarr`), made(name)]);
    const read = (await runPython("ome_images.py", "read", ...paths)) as Record<string, Read>;
    for (const name of names) {
      const before = read[join(sources, `${name}.zarr`)];
      const after = read[made(name)];
      const [from, to] = [before?.nodes["."], after?.nodes["."]];
      if (from === undefined || to === undefined) throw new Error(`nothing was read of ${name}`);
      expect(after?.version).toBe(before?.version);
      expect(to.axes).toEqual(from.axes);
      expect(to.channels).toEqual(from.channels);
      expect(to.levels.length).toBe(3);
      expect(to.levels[0]).toEqual(from.levels[0]);
      const [whole = [], half = []] = to.levels.map(([shape]) => shape);
      const spatial = from.axes.map(({ name: axis }) => ["z", "y", "x"].includes(axis));
      expect(half).toEqual(whole.map((n, d) => (spatial[d] ? Math.ceil(n / 2) : n)));
      const [first, second] = to.transformations;
      expect(first?.[0]).toEqual(from.transformations[0]?.[0]);
      const scale = first?.find((one) => one.scale)?.scale ?? [];
      expect(second?.[0]?.scale).toEqual(scale.map((n, d) => (spatial[d] ? 2 * n : n)));
      expect(second?.[1]?.translation).toEqual(scale.map((n, d) => (spatial[d] ? n / 2 : 0)));
    }
  }, 300_000);
});
