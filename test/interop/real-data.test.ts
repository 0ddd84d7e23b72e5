import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { beforeAll, describe, expect, test } from "vitest";
import * as zarrita from "zarrita";
import { convert, copy, rechunk, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestsOf } from "../support/consume.ts";
import { hasShared, knownDigests, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

const folder = temporaryFolder();
const era5 = `${shared}data/era5-uk-t2m.zarr`;
const sets = [
  { name: "era5-uk-t2m.zarr", zarrFormat: "v2", other: "v3" },
  { name: "basin-mask.zarr", zarrFormat: "v2", other: "v3" },
  { name: "era-interim-uvz.v3.zarr", zarrFormat: "v3", other: "v2" },
] as const;

describe.runIf(hasShared).each(sets)("$name", ({ name, zarrFormat, other }) => {
  const source = `${shared}data/${name}`;
  const at = (stop: string) => join(folder.path, `${stop}-${name}`);

  beforeAll(async () => {
    await copy(source, `${at("copied")}.zip`, { verify: true });
    await copy(`${at("copied")}.zip`, at("unzipped"));
    await convert(source, at("converted"), { to: other, verify: true });
    await convert(at("converted"), at("back"), { to: zarrFormat, verify: true });
  });

  test("is byte for byte the same from directory to zip to directory", () => {
    expect(filesOf(at("unzipped"))).toEqual(filesOf(source));
  });

  test("has the digests that are known, at every stop", async () => {
    for (const stop of [source, `${at("copied")}.zip`, at("unzipped"), at("converted"), at("back")])
      expect(await digestsOf(stop), stop).toEqual(knownDigests(name));
  });

  test("has the same metadata when it is converted back", () => {
    expect(documentsOf(at("back"))).toEqual(documentsOf(source));
  });

  test.each(["unzipped", "converted", "back"])("is read by zarrita, %s", async (stop) => {
    const root = zarrita.root(new FileSystemStore(at(stop)));
    for (const [path, sha256] of Object.entries(knownDigests(name))) {
      const array = await zarrita.open(root.resolve(path), { kind: "array" });
      const { buffer, byteOffset, byteLength } = (await zarrita.get(array)).data as Uint8Array;
      const hash = createHash("sha256").update(new Uint8Array(buffer, byteOffset, byteLength));
      expect(hash.digest("hex"), path).toBe(sha256);
    }
  });
});

describe.runIf(hasShared)("maps", () => {
  test("become time series in a zip; the values stay", async () => {
    const target = join(folder.path, "series.zarr.zip");
    const chunks = { time: 744, latitude: 11, longitude: 7 };
    const report = await rechunk(era5, target, { chunks, maxMemory: "8MB", verify: true });
    expect(report.peakBuffers).toBeLessThanOrEqual(8e6);
    expect(await digestsOf(target)).toEqual(knownDigests("era5-uk-t2m.zarr"));
  });

  test("of days, as bytes, are those of the whole", async () => {
    const hash = createHash("sha256");
    for (let day = 0; day < 31; day++) {
      const bytes = slice(`${era5}/t2m`, { time: [24 * day, 24 * (day + 1)] }).bytes();
      for await (const piece of bytes) hash.update(piece);
    }
    expect(hash.digest("hex")).toBe(knownDigests("era5-uk-t2m.zarr").t2m);
  });
});

/** What means the same when it is absent: writers differ in whether they state it. */
const DEFAULTS: Readonly<Record<string, unknown>> = { checksum: false, dimension_separator: "." };

/** All metadata documents as JSON, without what is a default. */
function documentsOf(path: string): Record<string, unknown> {
  const names = Object.keys(filesOf(path)).filter((name) => /(^|\/)(\.z\w+|zarr\.json)$/.test(name));
  const parse = (name: string) =>
    JSON.parse(readFileSync(join(path, name), "utf8"), (key, value) =>
      Object.hasOwn(DEFAULTS, key) && DEFAULTS[key] === value ? undefined : value,
    );
  return Object.fromEntries(names.map((name) => [name, parse(name)]));
}
