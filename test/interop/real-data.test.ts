import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy, rechunk, slice } from "../../src/index.ts";
import { digestsOf } from "../support/consume.ts";
import { hasShared, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

const data = `${shared}data/`;
const era5 = `${data}era5-uk-t2m.zarr`;

describe.runIf(hasShared)("real data", () => {
  const known = hasShared ? (JSON.parse(readFileSync(`${data}sha256.json`, "utf8")) as KnownDigests) : {};
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-real-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(["era5-uk-t2m.zarr", "basin-mask.zarr"])("%s has the digests that are known", async (name) => {
    expect(await digestsOf(`${data}${name}`)).toEqual(knownOf(name));
  });

  test.each(["era5-uk-t2m.zarr", "basin-mask.zarr"])(
    "%s comes back byte for byte from directory to zip to directory",
    async (name) => {
      const zip = join(folder, `${name}.zip`);
      const back = join(folder, name);
      await copy(`${data}${name}`, zip, { verify: true });
      await copy(zip, back);
      expect(filesOf(back)).toEqual(filesOf(`${data}${name}`));
    },
  );

  test("maps become time series in a zip; the values stay", async () => {
    const target = join(folder, "series.zarr.zip");
    const chunks = { time: 744, latitude: 11, longitude: 7 };
    const report = await rechunk(era5, target, { chunks, maxMemory: "8MB", verify: true });
    expect(report.peakBuffers).toBeLessThanOrEqual(8e6);
    expect(await digestsOf(target)).toEqual(knownOf("era5-uk-t2m.zarr"));
  });

  test("a day as bytes is a day of the whole", async () => {
    const hash = createHash("sha256");
    for (let day = 0; day < 31; day++) {
      const bytes = slice(`${era5}/t2m`, { time: [24 * day, 24 * (day + 1)] }).bytes();
      for await (const piece of bytes) hash.update(piece);
    }
    expect(hash.digest("hex")).toBe(known["era5-uk-t2m.zarr#t2m"]?.sha256);
  });

  function knownOf(store: string): Record<string, string> {
    const ours = Object.entries(known).filter(([name]) => name.startsWith(`${store}#`));
    return Object.fromEntries(ours.map(([name, { sha256 }]) => [name.slice(store.length + 1), sha256]));
  }
});

type KnownDigests = Record<string, { readonly sha256: string }>;
