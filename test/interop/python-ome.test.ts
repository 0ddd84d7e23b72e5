import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convert, copy, openGroup, sliceTo, walk } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
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
  readonly axes: readonly { readonly name: string }[];
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

describe.runIf(hasPython)("OME-Zarr", () => {
  let sources = "";
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
    sources = folder.next("sources");
    await runPython("ome_images.py", "write", sources);
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
async function valuesBelow(path: string): Promise<Map<string, Uint8Array>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const values = new Map<string, Uint8Array>();
  for (const file of files.sort()) {
    values.set(relative(path, file).replaceAll(sep, "/"), new Uint8Array(await readFile(file)));
  }
  return values;
}

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
