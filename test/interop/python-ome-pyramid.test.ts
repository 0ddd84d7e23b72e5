import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pyramid, slice, sliceTo } from "../../src/index.ts";
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

  test("labels are made of labels, slices of channels keep theirs, and both are valid", async () => {
    const sources = folder.next("sources");
    await runPython("ome_images.py", "write", sources);
    const made: string[] = [];
    for (const version of ["0.4", "0.5"]) {
      const image = join(sources, `3d-${version}.zarr`);
      const [labels, cut, level] = ["labels", "cut", "level"].map((name) =>
        join(sources, `${name}-${version}.zarr`),
      ) as [string, string, string];
      await pyramid(`${image}/labels/cells`, labels, { levels: 3 });
      await sliceTo(image, cut, { slice: { c: [0, 3, 2], y: [4, 20] } });
      await pyramid(`${image}/s1`, level, { levels: 2 });
      made.push(image, labels, cut, level);
    }
    const read = (await runPython("ome_images.py", "read", ...made)) as Record<string, Read>;
    for (const version of ["0.4", "0.5"]) {
      const of = (name: string) => read[join(sources, `${name}-${version}.zarr`)]?.nodes["."];
      const [image, labels, cut, level] = ["3d", "labels", "cut", "level"].map(of);
      expect(labels?.levels.map(([shape]) => shape)).toEqual([
        [33, 40],
        [17, 20],
        [9, 10],
      ]);
      expect(cut?.channels).toEqual(["c0", "c2"]);
      expect(cut?.levels[0]?.[0]).toEqual([2, 16, 40]);
      expect(level?.axes).toEqual(image?.axes);
      expect(level?.transformations[0]).toEqual(image?.transformations[1]);
      expect(level?.channels).toEqual(image?.channels);
      const values = (path: string) =>
        slice(join(sources, `${path}`)).read() as Promise<{ data: Uint8Array }>;
      const whole = new Set((await values(`3d-${version}.zarr/labels/cells/s0`)).data);
      const small = (await values(`labels-${version}.zarr/1`)).data;
      expect([...small].filter((value) => !whole.has(value))).toEqual([]);
    }
  }, 300_000);
});
