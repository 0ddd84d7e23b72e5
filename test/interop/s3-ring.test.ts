// @module-tag long
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isListable } from "../../src/stores/store.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { serveValues } from "../stores/value-server.ts";
import { digestsOf, valuesIn } from "../support/consume.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { hasPython, runPython } from "./python.ts";
import { dataSets, goRound, type Ring, ringOf } from "./s3-ring.ts";
import { type Bucket, environmentOf, servers } from "./s3-servers.ts";
import { hasShared, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

describe.runIf(hasShared).each(servers)("the ring through $name", ({ openBucket }) => {
  let bucket: Bucket;
  let folder: string;

  beforeAll(async () => {
    bucket = await openBucket();
    stubEnvironment(environmentOf(bucket));
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-ring-"));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
    await bucket.close();
  });

  describe.each(dataSets)("%s", (name) => {
    let ring: Ring;
    beforeAll(async () => {
      ring = ringOf(name, { bucket: bucket.name, folder });
      await goRound(ring);
    });

    test("is byte for byte the same at the end", () => {
      expect(filesOf(ring.end)).toEqual(filesOf(ring.source));
    });

    test("has every key, byte for byte, at every stop", async () => {
      const source = hashesOf(await valuesOf(ring.source));
      for (const stop of ring.stops) expect(hashesOf(await valuesOf(stop)), stop).toEqual(source);
    });

    test("keeps its digests at every stop", async () => {
      for (const stop of ring.stops) expect(await digestsOf(stop), stop).toEqual(knownOf(name));
    });

    test.runIf(hasPython)("zarr-python reads the same values at every stop", async () => {
      const memory = await serveValues(await valuesOf(ring.memory));
      try {
        const stops = ring.stops.map((stop) => (stop === ring.memory ? memory.url : stop));
        const digests = await runPython("hash_remote.py", ...stops);
        expect(digests).toEqual(Object.fromEntries(stops.map((stop) => [stop, knownOf(name)])));
      } finally {
        await memory.close();
      }
    });
  });
});

/** Every value of a store, by key. */
async function valuesOf(url: string): Promise<Map<string, Uint8Array>> {
  const store = await openStore(parseStoreUrl(url).spec);
  try {
    if (!isListable(store)) throw new Error(`${url} cannot be listed`);
    return await valuesIn(store);
  } finally {
    await store.close?.();
  }
}

function hashesOf(values: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  const hash = (value: Uint8Array) => createHash("sha256").update(value).digest("hex");
  return Object.fromEntries([...values].map(([key, value]) => [key, hash(value)]));
}

/** The digests that the set is known to have. */
function knownOf(name: string): Record<string, string> {
  const known: Record<string, { readonly sha256: string }> = JSON.parse(
    readFileSync(`${shared}data/sha256.json`, "utf8"),
  );
  const ours = Object.entries(known).filter(([array]) => array.startsWith(`${name}#`));
  return Object.fromEntries(ours.map(([array, { sha256 }]) => [array.slice(name.length + 1), sha256]));
}
