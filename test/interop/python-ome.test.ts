import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convert, copy, openGroup, pyramid, slice, sliceTo, walk } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { valuesIn } from "../support/consume.ts";
import { described } from "../support/conventions.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();
const NAMES = ["2d", "3d", "4d", "5d", "plate", "collection", "series"];
const VERSIONS = ["0.4", "0.5"] as const;
type Version = (typeof VERSIONS)[number];

/** What ome-zarr-py finds in an image that ome-zarr-models finds valid. */
interface Read {
  readonly version: Version;
  readonly nodes: Readonly<Record<string, ImageRead>>;
}

interface ImageRead {
  readonly axes: readonly { readonly name: string; readonly unit?: string }[];
  readonly transformations: readonly (readonly Transformation[])[];
  readonly channels: readonly string[] | null;
  readonly levels: readonly (readonly [shape: readonly number[], dataType: string, sha256: string])[];
}

interface Transformation {
  readonly scale?: readonly number[];
  readonly translation?: readonly number[];
}

/** Where a store lies that was made of one that ome-zarr-py wrote. */
type Made = "there" | "back" | "copied" | "thereByHttp" | "cut" | "cutThere";

let sources = "";
beforeAll(async () => {
  sources = folder.next("sources");
  if (hasPython) await runPython("ome_images.py", "write", sources);
}, 300_000);

describe.runIf(hasPython)("OME-Zarr", () => {
  let server: ValueServer | undefined;
  const made = new Map<string, string>();
  let read: Readonly<Record<string, Read>> = {};

  const sourceOf = (name: string, version: Version) => join(sources, `${name}-${version}.zarr`);
  const pathOf = (name: string, version: Version, how: Made) => made.get(`${name} ${version} ${how}`) ?? "";
  const readOf = (path: string): Read => {
    const found = read[path];
    if (found === undefined) throw new Error(`nothing was read at ${path}`);
    return found;
  };

  beforeAll(async () => {
    server = await serveValues(await valuesBelow(sources));
    for (const version of VERSIONS) {
      for (const name of NAMES) await make(name, version, `${server.url}/${name}-${version}.zarr`);
    }
    const all = VERSIONS.flatMap((version) => NAMES.map((name) => sourceOf(name, version)));
    read = (await runPython("ome_images.py", "read", ...all, ...made.values())) as Record<string, Read>;
  }, 300_000);

  afterAll(() => server?.close());

  async function make(name: string, version: Version, url: string): Promise<void> {
    const source = sourceOf(name, version);
    const [to, from] = version === "0.4" ? (["v3", "v2"] as const) : (["v2", "v3"] as const);
    const target = (how: Made) => {
      const path = folder.next(`${name}-${version}-${how}.zarr`);
      made.set(`${name} ${version} ${how}`, path);
      return path;
    };
    await convert(source, target("there"), { to });
    await convert(pathOf(name, version, "there"), target("back"), { to: from });
    await copy(url, target("copied"));
    await convert(url, target("thereByHttp"), { to });
    const ranges = { y: [5, 18], x: [3, 17, 2] } as const;
    await sliceTo(source, target("cut"), { slice: ranges });
    await sliceTo(source, target("cutThere"), { slice: ranges, to });
  }

  describe.each(VERSIONS)("%s as ome-zarr-py writes it", (version) => {
    const other = version === "0.4" ? "0.5" : "0.4";

    test.each(NAMES)("%s is the same image in the other version, and comes back", async (name) => {
      const source = sourceOf(name, version);
      const before = readOf(source);
      expect(before.version).toBe(version);
      expect(Object.values(before.nodes).every(({ levels }) => levels.length === 3)).toBe(true);
      expect(Object.keys(before.nodes)).not.toHaveLength(0);
      const [there, back] = [pathOf(name, version, "there"), pathOf(name, version, "back")];
      expect(readOf(there)).toEqual({ ...before, version: other });
      expect(readOf(back)).toEqual(before);
      // Of a well, the version may be left out in both; ome-zarr-py writes it in 0.4 alone.
      const [converted, written] = [await described(there), await described(sourceOf(name, other))];
      expect(withoutVersionOfWells(converted)).toEqual(withoutVersionOfWells(written));
      expect(await described(back)).toEqual(await described(source));
      expect(await documentsOf(back)).toEqual(await documentsOf(source));
    });

    test.each(NAMES)("%s is the same by way of a server that lists nothing", async (name) => {
      const source = sourceOf(name, version);
      expect(readOf(pathOf(name, version, "copied"))).toEqual(readOf(source));
      expect(await valuesBelow(pathOf(name, version, "copied"))).toEqual(
        withoutXml(await valuesBelow(source)),
      );
      const there = await valuesBelow(pathOf(name, version, "there"));
      expect(await valuesBelow(pathOf(name, version, "thereByHttp"))).toEqual(withoutXml(there));
    });

    test.each(NAMES)("a part of %s is valid, with every level where it was", async (name) => {
      const [cut, cutThere] = [
        readOf(pathOf(name, version, "cut")),
        readOf(pathOf(name, version, "cutThere")),
      ];
      expect(cutThere).toEqual({ ...cut, version: other });
      const before = readOf(sourceOf(name, version));
      expect(cut.version).toBe(version);
      expect(Object.keys(cut.nodes)).toEqual(Object.keys(before.nodes));
      for (const [path, image] of Object.entries(name === "plate" ? {} : cut.nodes)) {
        const whole = before.nodes[path];
        expect(image.channels).toEqual(whole?.channels);
        for (const [level, transformations] of image.transformations.entries()) {
          const old = whole?.transformations[level] ?? [];
          const [first = []] = whole?.transformations ?? [];
          for (const [d, { name: axis }] of image.axes.entries()) {
            const { scale, translation } = placeOf(transformations, d);
            const ratio = placeOf(old, d).scale / placeOf(first, d).scale;
            const [start, step] = axis === "y" ? [5, 1] : axis === "x" ? [3, 2] : [0, 1];
            expect(scale).toBeCloseTo(placeOf(old, d).scale * step, 10);
            const moved = Math.floor(start / ratio + 1e-9) * placeOf(old, d).scale;
            expect(translation).toBeCloseTo(placeOf(old, d).translation + moved, 10);
          }
        }
      }
    });
  });
});

describe.runIf(hasPython)("pyramids of images that ome-zarr-py wrote", { timeout: 300_000 }, () => {
  test("ome-zarr-models finds them valid, and ome-zarr-py reads levels, axes, channels and transformations", async () => {
    const names = VERSIONS.flatMap((version) => NAMES.slice(0, 4).map((name) => `${name}-${version}`));
    const made = (name: string) => join(sources, `pyramid-of-${name}.zarr`);
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
  });

  test("labels are made of labels, slices of channels keep theirs, and both are valid", async () => {
    const made: string[] = [];
    for (const version of VERSIONS) {
      const image = join(sources, `3d-${version}.zarr`);
      const target = (name: string) => join(sources, `${name}-${version}.zarr`);
      await pyramid(`${image}/labels/cells`, target("labels"), { levels: 3 });
      await sliceTo(image, target("cut"), { slice: { c: [0, 3, 2], y: [4, 20] } });
      await pyramid(`${image}/s1`, target("level"), { levels: 2 });
      made.push(image, ...["labels", "cut", "level"].map(target));
    }
    const read = (await runPython("ome_images.py", "read", ...made)) as Record<string, Read>;
    for (const version of VERSIONS) {
      const of = (name: string) => read[join(sources, `${name}-${version}.zarr`)]?.nodes["."];
      const [image, labels, cut, level] = ["3d", "labels", "cut", "level"].map(of);
      expect(labels?.levels.map(([shape]) => `${shape}`)).toEqual(["33,40", "17,20", "9,10"]);
      expect(cut?.channels).toEqual(["c0", "c2"]);
      expect(cut?.levels[0]?.[0]).toEqual([2, 16, 40]);
      expect(level?.axes).toEqual(image?.axes);
      expect(level?.transformations[0]).toEqual(image?.transformations[1]);
      expect(level?.channels).toEqual(image?.channels);
      const values = (path: string) => slice(join(sources, path)).read() as Promise<{ data: Uint8Array }>;
      const whole = new Set((await values(`3d-${version}.zarr/labels/cells/s0`)).data);
      const small = (await values(`labels-${version}.zarr/1`)).data;
      expect([...small].filter((value) => !whole.has(value))).toEqual([]);
    }
  });
});

function placeOf(
  transformations: readonly Transformation[],
  d: number,
): { scale: number; translation: number } {
  const scale = transformations.find((one) => one.scale)?.scale?.[d] ?? 1;
  return { scale, translation: transformations.find((one) => one.translation)?.translation?.[d] ?? 0 };
}

function withoutVersionOfWells(nodes: Awaited<ReturnType<typeof described>>): unknown {
  const text = JSON.stringify(nodes, (name, value) => {
    const { version: _, ...well } = name === "well" ? value : {};
    return name === "well" ? well : value;
  });
  return JSON.parse(text);
}

/** All files below a folder, by path. */
const valuesBelow = (path: string) => valuesIn(new DirectoryStore(path));

/** What a server that lists nothing can be asked for: not what no metadata name. */
function withoutXml(values: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
  return new Map([...values].filter(([key]) => !key.endsWith(".xml")));
}

/** The documents of all arrays, as JSON, but attributes. */
async function documentsOf(path: string): Promise<Record<string, unknown>> {
  const documents: Record<string, unknown> = {};
  for await (const node of walk(await openGroup(path))) {
    if (node.kind === "group") continue;
    for (const [key, bytes] of node.documents) {
      if (key.endsWith(".zattrs")) continue;
      // The zstd of v2 states no checksum, so none comes back.
      documents[key] = JSON.parse(new TextDecoder().decode(bytes), (name, value) =>
        name === "checksum" && value === false ? undefined : value,
      );
    }
  }
  return documents;
}
