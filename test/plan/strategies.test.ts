import { expect, test } from "vitest";
import { strategyOptions } from "../../src/cli/shared-options.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { assertGridStrategy, type GridStrategy } from "../../src/hierarchy/read-options.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import { costClassOf, decodesParts } from "../../src/meta/codec-traits.ts";
import { type CostRequest, costOf } from "../../src/plan/costs.ts";
import type { GridSide } from "../../src/plan/plan.ts";
import { chooseStrategy, type Rated, strategies, strategyNamed } from "../../src/plan/strategies.ts";
import { product } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";

const candidate = (seconds: number, peak = 1): Rated => ({
  cost: { seconds, peak, timesDecoded: 1, requests: 1, scratchBytes: 0 },
});
const first = { name: "direct" as const, candidates: () => [candidate(9), candidate(3)] };
const second = { name: "staged" as const, candidates: () => [candidate(2)] };
const third = { name: "transcode" as const, candidates: () => [candidate(1), candidate(5)] };
const none = { name: "verbatim" as const, candidates: () => [] };

test("every strategy that changes the grid can be asked for, and no other one", () => {
  const names = strategies.filter(({ changesGrid }) => changesGrid).map(({ name }) => name);
  expect(strategyOptions.strategy.choices).toEqual(names);
  expect(strategyOptions.strategy.value).toBe(names.join("|"));
  for (const { name, changesGrid } of strategies) {
    expect(strategyNamed(name).name).toBe(name);
    const check = () => assertGridStrategy(name as GridStrategy);
    if (changesGrid) check();
    else expect(check).toThrow(/strategy/);
  }
});

test("of any number of strategies the cheapest is taken, and each other one has a reason", () => {
  const choice = chooseStrategy([first, second, none, third], { whyEnough: () => undefined });
  expect(choice).toMatchObject({ strategy: "transcode", best: { cost: { seconds: 1 } } });
  expect(choice?.notTaken.map(({ strategy, reason }) => [strategy, reason])).toEqual([
    ["direct", "it would take 3.0 times as long"],
    ["staged", "it would take 2.0 times as long"],
    ["verbatim", "no layout fits the memory budget"],
  ]);
});

test("what is good enough ends the search", () => {
  const choice = chooseStrategy([first, second, third], { whyEnough: () => "it is enough" });
  expect(choice).toMatchObject({
    strategy: "direct",
    best: { cost: { seconds: 3 } },
    notTaken: [
      { strategy: "staged", reason: "it is enough" },
      { strategy: "transcode", reason: "it is enough" },
    ],
  });
});

test("the strategy that is asked for is the only one that is looked at", () => {
  const options = { asked: "staged" as const, whyEnough: () => undefined };
  expect(chooseStrategy([first, second], options)).toMatchObject({
    strategy: "staged",
    notTaken: [{ strategy: "direct", reason: "staged was asked for" }],
  });
  expect(chooseStrategy([first, { ...second, candidates: () => [] }], options)).toBeUndefined();
});

test("of nearly the same cost, the one with the lower peak is taken where that is wanted", () => {
  const rivals = [{ ...first, candidates: () => [candidate(1, 9), candidate(1.05, 2)] }];
  const best = (nearly?: number) =>
    chooseStrategy(rivals, { ...(nearly !== undefined && { nearly }), whyEnough: () => undefined })?.best.cost
      .peak;
  expect(best(1.1)).toBe(2);
  expect(best()).toBe(9);
});

const folder = temporaryFolder();

/** The strategy for float32 steps of 128 KiB that are cut into series, and how many windows there are. */
async function chosen(steps: number, threads: number) {
  const grid = { shape: [steps, 128, 256], chunks: [1, 128, 256], dataType: "float32" };
  const source = await given({ at: folder.next(), ...grid, zarrFormat: "v2", codec: "lz4", values: null });
  const { plan, close } = await planFlow(source, folder.next(), { chunks: [steps, 16, 16], threads });
  await close();
  return { strategy: plan.jobs[0]?.strategy, windows: plan.stages.at(-1) ?? 0 };
}

test("one window that holds all is enough for one thread, or little work; else staged gives a second thread some", async () => {
  expect(await chosen(512, 1)).toEqual({ strategy: "direct", windows: 1 });
  expect(await chosen(64, 2)).toEqual({ strategy: "direct", windows: 1 });
  const { strategy, windows } = await chosen(512, 2);
  expect(strategy).toBe("staged");
  expect(windows).toBeGreaterThanOrEqual(2);
});

/** What it is predicted to take in windows of so many target chunks, each source chunk read as often as windows touch it. */
function secondsIn(window: number[], visits: number, ...codecs: CodecConfig[]): number {
  const shape = [1024, 256, 512];
  const side = (chunkShape: number[], codecs: readonly CodecConfig[]): GridSide => ({
    ...{ zarrFormat: "v2", chunkKeyEncoding: { name: "plain", separator: "." }, shape, chunkShape },
    codecs: codecs.map((codec) => ({ ...codec, costClass: costClassOf(codec) })),
    decodesParts: decodesParts(codecs),
    ...{ decodedSize: 4 * product(chunkShape), maxEncodedSize: 4 * product(chunkShape) + 16 },
    ...{ scratchSize: 0, pooledScratchSize: 0 },
  });
  const request: CostRequest = {
    sides: { source: side([1, 256, 512], codecs), target: side([1024, 16, 32], []) },
    ...{ items: product(shape), chunksTouched: 1024, chunksWritten: 256, tasks: visits },
    windows: { window, readAhead: 1, leaseBytes: 1, expectedBytes: 1, chunksRead: 1024 * visits },
    ...{ maxMemory: 2 ** 28, tasksAtOnce: 1, threads: 1, concurrency: 16, profiles: {} },
  };
  return costOf(request).seconds;
}

const codec = (name: string, configuration: CodecConfig["configuration"] = {}) => ({ name, configuration });
const BYTES = codec("bytes", { endian: "little" });
const BLOSC = codec("blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle" });

test.each([BLOSC, codec("lz4", { acceleration: 1 })])(
  "bands of rows take prefixes of chunks behind $name",
  (compressor) => {
    const bands = secondsIn([1, 2, 16], 8, BYTES, compressor);
    const columns = secondsIn([1, 16, 2], 8, BYTES, compressor);
    expect(bands).toBeLessThan(columns);
    expect(secondsIn([1, 16, 16], 1, BYTES, compressor)).toBeLessThan(bands);
  },
);

test.each([codec("zstd", { level: 5 }), codec("crc32c")])(
  "behind $name every window decodes whole chunks",
  (last) => {
    const codecs = [BYTES, BLOSC, last];
    expect(secondsIn([1, 2, 16], 8, ...codecs)).toBe(secondsIn([1, 16, 2], 8, ...codecs));
  },
);
