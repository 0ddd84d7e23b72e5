import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as zarrita from "zarrita";
import { convert, copy } from "../../src/index.ts";
import { digestsOf } from "../support/consume.ts";
import { hasShared, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

const sets = [
  { name: "era5-uk-t2m.zarr", zarrFormat: "v2", other: "v3" },
  { name: "basin-mask.zarr", zarrFormat: "v2", other: "v3" },
  { name: "era-interim-uvz.v3.zarr", zarrFormat: "v3", other: "v2" },
] as const;

describe.runIf(hasShared).each(sets)("$name", ({ name, zarrFormat, other }) => {
  const source = `${shared}data/${name}`;
  const at = (stop: string) => join(folder, `${stop}-${name}`);
  let folder: string;
  let digests: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-ring-"));
    digests = await digestsOf(source);
    await copy(source, `${at("copied")}.zip`, { verify: true });
    await copy(`${at("copied")}.zip`, at("unzipped"));
    await convert(source, at("converted"), { to: other, verify: true });
    await convert(at("converted"), at("back"), { to: zarrFormat, verify: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is byte for byte the same from directory to zip to directory", () => {
    expect(filesOf(at("unzipped"))).toEqual(filesOf(source));
  });

  test("keeps its digests at every stop", async () => {
    for (const stop of [`${at("copied")}.zip`, at("unzipped"), at("converted"), at("back")]) {
      expect(await digestsOf(stop), stop).toEqual(digests);
    }
  });

  test("has the same metadata when it is converted back", () => {
    expect(documentsOf(at("back"))).toEqual(documentsOf(source));
  });

  test.each(["unzipped", "converted", "back"])("is read by zarrita, %s", async (stop) => {
    const root = zarrita.root(new FileSystemStore(at(stop)));
    for (const [path, sha256] of Object.entries(digests)) {
      const array = await zarrita.open(root.resolve(path), { kind: "array" });
      const { data } = await zarrita.get(array);
      const { buffer, byteOffset, byteLength } = data as Uint8Array;
      const hash = createHash("sha256").update(new Uint8Array(buffer, byteOffset, byteLength));
      expect(hash.digest("hex"), path).toBe(sha256);
    }
  });
});

/** What means the same when it is absent: writers differ in whether they state it. */
const DEFAULTS: Readonly<Record<string, unknown>> = { checksum: false, dimension_separator: "." };

/** All metadata documents as JSON, without what is a default. */
function documentsOf(folder: string): Record<string, unknown> {
  const names = Object.keys(filesOf(folder)).filter((name) => /(^|\/)(\.z\w+|zarr\.json)$/.test(name));
  const parse = (name: string) =>
    JSON.parse(readFileSync(join(folder, name), "utf8"), (key, value) =>
      Object.hasOwn(DEFAULTS, key) && DEFAULTS[key] === value ? undefined : value,
    );
  return Object.fromEntries(names.map((name) => [name, parse(name)]));
}
