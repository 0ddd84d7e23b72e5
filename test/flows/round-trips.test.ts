// @module-tag slow
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { convert, copy, createGroup, info, open, rechunk, slice } from "../../src/index.ts";
import { inRounds, type Round } from "../stores/request-rounds.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { given } from "../support/given.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const remote = `s3://${BUCKET}/data`;
const MEMBERS = ["t", "u", "w"];
const SHAPE = { shape: [8, 8], chunks: [4, 4], dataType: "int16" } as const;
/** How arrays name their dimensions, so that nobody looks for names above them. */
const NAMED = {
  v2: { attributes: { _ARRAY_DIMENSIONS: ["y", "x"] } },
  v3: { dimensionNames: ["y", "x"], attributes: { units: "K" } },
} as const;
const FORMATS = ["v2", "v3"] as const;
/** The tasks of other threads open their arrays at times of their own. */
const ONE_THREAD = { threads: 1 };

type Format = (typeof FORMATS)[number];

/** What is asked of a server: of an array, or of a group of three, in a format. */
interface Source {
  readonly format: Format;
  readonly path: "" | "/t";
}

let server: S3Server;
let folder: string;
let targets = 0;

const newTarget = () => `${remote}/target${targets++}`;
const newFolder = () => join(folder, `target${targets++}`);
const far = ({ format, path }: Source) => `${remote}/${format}${path}`;
const near = ({ format, path }: Source) => join(folder, format + path);
const otherThan = (format: Format) => (format === "v2" ? "v3" : "v2");

const FLOWS = {
  open: async (source: Source) => void (await open(far(source))),
  info: async (source: Source) => {
    for await (const _ of info(far(source)));
  },
  slice: async (source: Source) => {
    for await (const _ of slice(far(source), "0:4").bytes());
  },
  up: (source: Source) => copy(near(source), newTarget(), ONE_THREAD),
  down: (source: Source) => copy(far(source), newFolder(), ONE_THREAD),
  copy: (source: Source) => copy(far(source), newTarget(), ONE_THREAD),
  rechunk: (source: Source) => rechunk(far(source), newTarget(), { chunks: { x: 8 }, ...ONE_THREAD }),
  convert: (source: Source) =>
    convert(far(source), newTarget(), { to: otherThan(source.format), ...ONE_THREAD }),
} as const;

type Flow = keyof typeof FLOWS;

beforeAll(async () => {
  server = await serveReachableBucket();
  folder = mkdtempSync(join(tmpdir(), "zarrflow-rounds-"));
  for (const format of FORMATS) {
    for (const at of [far({ format, path: "" }), near({ format, path: "" })]) {
      const arrays = Object.fromEntries(MEMBERS.map((name) => [name, { ...SHAPE, ...NAMED[format] }]));
      await given({ at, zarrFormat: format, attributes: { title: "rounds" }, arrays });
    }
    // what is loaded on use takes no part in what is measured
    for (const flow of Object.values(FLOWS)) await flow({ format, path: "/t" });
  }
}, 120_000);
afterEach(() => vi.useRealTimers());
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

/** The rounds of a call, which sees no time pass: how long a run has been at work may be a reason to ask again. */
async function measured(call: () => Promise<unknown>): Promise<readonly Round[]> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { rounds, end } = inRounds(server);
  await call().finally(end);
  vi.useRealTimers();
  return rounds;
}

/** The fewest rounds that a call takes, where more than `most` are measured at first: a busy machine sends late. */
async function roundsOf(call: () => Promise<unknown>, most: number): Promise<readonly Round[]> {
  let fewest = await measured(call);
  for (let again = 0; again < 2 && fewest.length > most; again++) {
    const rounds = await measured(call);
    if (rounds.length < fewest.length) fewest = rounds;
  }
  return fewest;
}

/** The rounds as text, for an assertion that fails. */
function withText(rounds: readonly Round[]): string {
  return rounds.map((round, i) => `${i + 1}: ${round.join(", ")}`).join("\n");
}

function expectAtMost(rounds: readonly Round[], most: number): void {
  expect(rounds.length, withText(rounds)).toBeLessThanOrEqual(most);
}

const isChunk = (request: string) => /\/(?:c\/)?\d+[/.]\d+$/.test(request);
const isWrittenDocument = (request: string) => /^PUT .*\/(?:zarr\.json|\.z[a-z]+)$/.test(request);

/** Numbers, from 1 on, of the first and the last round that has such a request. */
function spanOf(rounds: readonly Round[], isMeant: (request: string) => boolean): readonly [number, number] {
  const has = rounds.map((round) => round.some(isMeant));
  return [has.indexOf(true) + 1, has.lastIndexOf(true) + 1];
}

/** The most rounds of each flow: of an array of v2 and of v3, and of a group of three. */
const MOST: Readonly<Record<Flow, Readonly<Record<Format, readonly number[]>>>> = {
  open: { v2: [2, 2], v3: [1, 1] },
  info: { v2: [3, 9], v3: [2, 6] },
  slice: { v2: [4], v3: [3] },
  up: { v2: [7, 8], v3: [7, 8] },
  down: { v2: [5, 7], v3: [4, 6] },
  copy: { v2: [9, 12], v3: [8, 11] },
  rechunk: { v2: [9, 12], v3: [8, 11] },
  convert: { v2: [9, 12], v3: [9, 12] },
};

const cases = Object.keys(FLOWS).flatMap((flow) =>
  FORMATS.flatMap((format) =>
    MOST[flow as Flow][format].map((most, i) => ({ flow: flow as Flow, format, i, most })),
  ),
);

describe.each(cases)("$flow of $format, round trips", ({ flow, format, i, most }) => {
  const source = { format, path: i === 0 ? "/t" : "" } as const;

  test(`are at most ${most} for ${i === 0 ? "an array" : "a group of three arrays"}`, async () => {
    const rounds = await roundsOf(() => FLOWS[flow](source), most);
    expectAtMost(rounds, most);
    expect(rounds.flat().length).toBeGreaterThan(0);
    if (flow === "slice") expectChunksInThird(rounds);
    if (["up", "copy", "rechunk", "convert"].includes(flow)) {
      expectAskedOnce(rounds);
      expectSoonPublished(rounds, i === 0 ? 3 : 4);
    }
    if (flow === "rechunk") expectListedWithChunks(rounds, far(source));
  });
});

function expectChunksInThird(rounds: readonly Round[]): void {
  const [first, last] = spanOf(rounds, (request) => request.startsWith("GET") && isChunk(request));
  expect(first, withText(rounds)).toBeLessThanOrEqual(3);
  expect(last, withText(rounds)).toBe(first);
}

/** Before the target is locked nothing is asked for twice. */
function expectAskedOnce(rounds: readonly Round[]): void {
  const [locked] = spanOf(rounds, (request) => /^PUT .*-lock$/.test(request));
  const before = rounds.slice(0, locked).flat();
  expect(before.length, withText(rounds)).toBe(new Set(before).size);
}

/** Documents are written in three rounds, and no more than so many follow the last chunk. */
function expectSoonPublished(rounds: readonly Round[], most: number): void {
  const [, lastChunk] = spanOf(rounds, (request) => request.startsWith("PUT") && isChunk(request));
  expect(rounds.length - lastChunk, withText(rounds)).toBeLessThanOrEqual(most);
  const [first, last] = spanOf(rounds, isWrittenDocument);
  expect(last - first + 1, withText(rounds)).toBeLessThanOrEqual(3);
  expect(first, withText(rounds)).toBeGreaterThan(lastChunk);
}

/** Other keys of the source are looked for while its first chunks are read. */
function expectListedWithChunks(rounds: readonly Round[], source: string): void {
  const prefix = `${source.slice(`s3://${BUCKET}/`.length)}/`;
  const [, listed] = spanOf(rounds, (request) => request === `LIST ${prefix}`);
  const [firstRead] = spanOf(rounds, (request) => request.startsWith("GET") && isChunk(request));
  expect(listed, withText(rounds)).toBe(firstRead);
}

test("of a target that is replaced", async () => {
  const target = newTarget();
  const source = near({ format: "v3", path: "" });
  await copy(source, target);
  const again = { ...ONE_THREAD, ifExists: "replace" } as const;
  const rounds = await roundsOf(() => copy(source, target, again), 13);
  expectAtMost(rounds, 13);
});

test("of a plan that is run later ask again what is around the target", async () => {
  const { planFlow } = await import("../../src/flows/request/flow.ts");
  const { runFlow } = await import("../../src/flows/run-flow.ts");
  const group = newTarget();
  const planned = await planFlow(near({ format: "v3", path: "/t" }), `${group}/t`, ONE_THREAD);
  const root = await createGroup(group, { zarrFormat: "v3" }, { consolidated: true });
  await root.close();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6000 });
  await runFlow(planned);
  const { consolidated_metadata } = JSON.parse(
    String(server.objects.get(`${group.slice(`s3://${BUCKET}/`.length)}/zarr.json`)),
  );
  expect(Object.keys(consolidated_metadata.metadata)).toEqual(["t"]);
});
