// @module-tag alone
// @module-tag slow
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copy, createGroup, openArray, rechunk, slice } from "../../src/index.ts";
import { inRounds, type Round } from "../stores/request-rounds.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const remote = `s3://${BUCKET}`;
const SHAPE = { shape: [8, 8], chunks: [4, 4], dataType: "int16", dimensionNames: ["y", "x"] } as const;
/** The tasks of other threads open their arrays at times of their own. */
const ONE_THREAD = { threads: 1 };

let server: S3Server;
let folder: string;

beforeAll(async () => {
  server = await serveReachableBucket();
  folder = mkdtempSync(join(tmpdir(), "zarrflow-rounds-"));
  for (const at of [`${remote}/source.zarr`, join(folder, "source.zarr")]) {
    const group = await createGroup(at, { attributes: { title: "rounds" } });
    const array = await group.create("t", SHAPE);
    await array.write(
      {},
      Int16Array.from({ length: 64 }, (_, i) => i),
    );
    await array.close();
    await group.close();
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

/** The rounds of requests that a call takes; they are printed where that fails. */
async function roundsOf(call: () => Promise<unknown>): Promise<readonly Round[]> {
  const { rounds, end } = inRounds(server);
  await call().finally(end);
  return rounds;
}

function withText(rounds: readonly Round[]): string {
  return rounds.map((round, i) => `${i + 1}: ${round.join(", ")}`).join("\n");
}

function expectAtMost(rounds: readonly Round[], most: number): void {
  expect(rounds.length, withText(rounds)).toBeLessThanOrEqual(most);
}

const isChunk = (request: string) => request.includes("/c/");

/** The rounds from the first that writes a document. */
function publication(rounds: readonly Round[]): readonly Round[] {
  return rounds.slice(
    rounds.findIndex((round) => round.some((request) => /^PUT .*zarr.json$/.test(request))),
  );
}

test("an array is open after one round trip", async () => {
  expectAtMost(await roundsOf(() => openArray(`${remote}/source.zarr/t`)), 1);
});

test("a slice asks for its chunks in the second round trip, all at once", async () => {
  const rounds = await roundsOf(() => slice(`${remote}/source.zarr/t`, "0:4").read());
  expect(rounds[1]?.filter(isChunk), withText(rounds)).toHaveLength(2);
  expectAtMost(rounds, 3);
});

test("a copy from a bucket", async () => {
  expectAtMost(await roundsOf(() => copy(`${remote}/source.zarr`, join(folder, "down"), ONE_THREAD)), 6);
});

test("a copy to a bucket: a group is published in four round trips", async () => {
  const rounds = await roundsOf(() => copy(join(folder, "source.zarr"), `${remote}/up.zarr`, ONE_THREAD));
  expectAtMost(publication(rounds), 4);
  expectAtMost(rounds, 11);
});

test("a target that is replaced", async () => {
  const again = { ...ONE_THREAD, ifExists: "replace" } as const;
  const rounds = await roundsOf(() => copy(join(folder, "source.zarr"), `${remote}/up.zarr`, again));
  expectAtMost(rounds, 15);
});

test("a rechunk from bucket to bucket: an array is published in three round trips", async () => {
  const changes = { chunks: { x: 8 }, ...ONE_THREAD };
  const rounds = await roundsOf(() => rechunk(`${remote}/source.zarr/t`, `${remote}/wide.zarr`, changes));
  expectAtMost(publication(rounds), 3);
  expectAtMost(rounds, 13);
});
