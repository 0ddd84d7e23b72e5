// @module-tag slow
// @module-tag alone
import "./mocked-calls.ts";
import { rmSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { append, openArray, slice } from "../../../src/index.ts";
import { LOCK_NAME } from "../../../src/stores/reserved-names.ts";
import { given } from "../../support/given.ts";
import { IS_LONG } from "./cases.ts";
import { Cut } from "./cut.ts";
import { filePlace, newFolder } from "./places.ts";
import { nameOf } from "./states.ts";

const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAMES = ["t2m", "time", "lat"] as const;

/** A dataset of `length` times from `from` on. */
function dataset(zarrFormat: "v2" | "v3", consolidated: boolean, from: number, length: number) {
  const made = (shape: number[], chunks: number[], dimensionNames: string[], first: number) => ({
    ...{ dataType: "float32", codec: "none", shape, chunks, dimensionNames },
    values: (i: number) => first + i + 1,
  });
  const t2m = made([length, 3], [4, 3], ["time", "lat"], from * 3);
  const time = made([length], [4], ["time"], from);
  return given({ zarrFormat, consolidated, arrays: { t2m, time, lat: made([3], [3], ["lat"], 0) } });
}

/** The values of each array, by its own document. */
async function read(at: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of NAMES) {
    const array = await openArray(`${at}/${name}`);
    found[name] = `${array.shape}: ${[...(await slice(array).read()).data]}`;
  }
  return found;
}

/** Shapes as the group's consolidated metadata list them, by which xarray opens it. */
async function listed(at: string, zarrFormat: "v2" | "v3"): Promise<unknown> {
  const document = JSON.parse(
    await readFile(join(at, zarrFormat === "v2" ? ".zmetadata" : "zarr.json"), "utf8"),
  );
  const { metadata } = zarrFormat === "v2" ? document : (document.consolidated_metadata ?? { metadata: {} });
  return NAMES.map((name) => metadata[zarrFormat === "v2" ? `${name}/.zarray` : name]?.shape);
}

test.each([
  ["v2", true],
  ["v3", true],
  ["v3", false],
] as const)(
  "an append to %s (consolidated: %s) cut at any file call leaves each array as before or as after, and the same call ends it",
  async (zarrFormat, consolidated) => {
    const place = filePlace(folder, `${zarrFormat}-${consolidated}.zarr`);
    const at = String(place.targetAt(""));
    const old = await dataset(zarrFormat, consolidated, 0, 6);
    const next = await dataset(zarrFormat, consolidated, 6, 7);
    const run = (cut: Cut) => place.during(cut, () => append(next, at, { dim: "time", signal: cut.signal }));
    await place.reset(old);
    const [before, listedBefore] = [await read(at), await listed(at, zarrFormat)];
    const counting = new Cut();
    await run(counting);
    const [after, listedAfter] = [await read(at), await listed(at, zarrFormat)];
    expect(after.time).toBe("13: 1,2,3,4,5,6,7,8,9,10,11,12,13");
    if (consolidated) expect(listedAfter).toEqual([[13, 3], [13], [3]]);
    expect(counting.calls).toBeGreaterThan(10);

    const wrong: string[] = [];
    // where the same is left, the same is read, and the next run does the same
    const seen = new Set<string>();
    for (const [i, kind] of (["kill", "fail", "abort"] as const).entries()) {
      for (let call = IS_LONG ? 0 : 2 * i; call < counting.calls; call += IS_LONG ? 1 : 6) {
        await place.reset(old);
        const failure = await run(new Cut(kind, call)).then(
          () => undefined,
          (error: unknown) => error,
        );
        const left = place.everything && `${failure === undefined} ${nameOf(place.everything())}`;
        if (left !== undefined && seen.has(left)) continue;
        if (left !== undefined) seen.add(left);
        const where = `${kind} at ${call} of ${counting.calls}`;
        const found = await read(at);
        for (const name of NAMES) {
          const isEither = found[name] === before[name] || found[name] === after[name];
          if (!isEither) wrong.push(`${where}: ${name} is ${found[name]}`);
        }
        const shown = `${await listed(at, zarrFormat)}`;
        if (![`${listedBefore}`, `${listedAfter}`].includes(shown))
          wrong.push(`${where}: listed are ${shown}`);
        if (failure === undefined) continue;
        await rm(join(at, LOCK_NAME), { force: true });
        await place.outlastTurns();
        await append(next, at, { dim: "time" }).catch((error: unknown) => {
          if (JSON.stringify(found) !== JSON.stringify(after)) wrong.push(`${where}: again: ${error}`);
        });
        expect(await read(at), where).toEqual(after);
        expect(await listed(at, zarrFormat), where).toEqual(listedAfter);
      }
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);
