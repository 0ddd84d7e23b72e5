import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { append } from "../../../src/flows/append.ts";
import { asStore } from "../../../src/flows/as-store.ts";
import { convert, copy, rechunk, sliceTo } from "../../../src/flows/copy.ts";
import { diff } from "../../../src/flows/diff.ts";
import { digest, digestTree } from "../../../src/flows/digest.ts";
import { info } from "../../../src/flows/info.ts";
import { planSlice } from "../../../src/flows/plan-slice.ts";
import { pyramid } from "../../../src/flows/pyramid.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import type { PlanOptions } from "../../../src/flows/request/flow-options.ts";
import { slice } from "../../../src/flows/slice.ts";
import { validate } from "../../../src/flows/validate.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import type { OpenSource } from "../../../src/index.ts";
import type { FlowEvent, ReadEvent, WarningEvent } from "../../../src/run/events.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { testFolder } from "../../support/cli.ts";
import { drain } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { writeV2Group } from "../../support/v2-store.ts";

/** A group in v2 of an array and the coordinate of its first dimension, in a folder. */
async function group(): Promise<string> {
  const folder = join(await testFolder(), "g.zarr");
  await writeV2Group(folder, {
    t: { shape: [6, 4], chunks: [2, 4], dimensions: ["time", "x"] },
    time: { shape: [6], dimensions: ["time"] },
  });
  return folder;
}

/** The warnings of a plan that say more than that something is so. */
async function warningsOf(source: OpenSource, options: Parameters<typeof planFlow>[2]) {
  const { plan, close } = await planFlow(source, "memory:effects", options);
  await close();
  return plan.warnings.filter(({ code }) => code !== undefined);
}

/** The reason why a plan is refused. */
async function refusal(call: Promise<object>): Promise<string> {
  return call.then(
    async (planned) => {
      if ("close" in planned && typeof planned.close === "function") await planned.close();
      return "not refused";
    },
    (error) => `${error.code}: ${error.reason}`,
  );
}

describe("options that would not do what they ask are refused", () => {
  const noShards = "`shards` has no effect: the target is v2, but only v3 has shards";
  it.each([
    [{ shards: "time=6" }, noShards],
    [{ shards: { time: 6 }, chunks: { time: 3 } }, noShards],
    [{ match: "any" }, "`match` has no effect: no chunks or shards name dimensions"],
    [{ match: "any", chunks: "t:3,4" }, "`match` has no effect: no chunks or shards name dimensions"],
    [{ strict: true }, "`strict` has no effect: nothing is sliced"],
    [{ nearest: true }, "`nearest` has no effect: the slice has no labels, only indices"],
    [{ companions: false }, "`companions` (--alone) has no effect: everything is taken anyway"],
    [
      { allowLoss: ["/attributes/x"] },
      "`allowLoss` (--allow-loss) has no effect: the format stays v2, and nothing is lost",
    ],
    [{ allowLoss: ["all"], to: "v3" }, "`all` in `allowLoss` is not a JSON pointer"],
    [{ include: "*.txt", codec: "zstd" }, "nothing matches the glob `*.txt` to include"],
  ] as const)("%j", async (options, reason) => {
    const plan = planFlow(await group(), new MemoryStore(), options as PlanOptions);
    expect(await refusal(plan)).toBe(`invalid-option: ${reason}`);
  });

  it("of one array, or of none, and without what an operation is about", async () => {
    const source = `${await group()}/t`;
    const rechunked = planFlow(source, new MemoryStore(), { chunks: { time: 3 }, match: "any" });
    expect(await refusal(rechunked)).toContain("`match` has no effect: the source is a single array");
    const copied = planFlow(source, new MemoryStore(), { companions: false });
    expect(await refusal(copied)).toContain(
      "`companions` (--alone) has no effect: only one array is taken, without companions",
    );
    const empty = planFlow(await given({ zarrFormat: "v2", arrays: {} }), new MemoryStore(), {
      codec: "zstd",
    });
    expect(await refusal(empty)).toBe("invalid-option: `codec` has no effect: there is no array");
    const none = {} as never;
    expect(await refusal(convert(source, new MemoryStore(), none))).toContain("convert needs `to`");
    expect(await refusal(rechunk(source, new MemoryStore(), none))).toContain("rechunk needs `chunks`");
    expect(await refusal(sliceTo(source, new MemoryStore(), none))).toContain("sliceTo needs `slice`");
  });

  it("of a slice by indices", async () => {
    const source = await group();
    const reason = "`nearest` has no effect: the slice has no labels, only indices";
    const options = { slice: { time: [0, 2] }, nearest: true } as const;
    expect(await refusal(planFlow(source, new MemoryStore(), options))).toContain(reason);
    const array = await openArray(`${source}/t`);
    await expect(slice(array, [0], { nearest: true }).read()).rejects.toMatchObject({ reason });
    await expect(planSlice(array, [0], { nearest: true })).rejects.toMatchObject({ reason });
  });

  it("by a name that another option has, or with no more than ten names", async () => {
    const refused = (options: object) =>
      copy("a", new MemoryStore(), options).catch((error) => error.details);
    expect(await refused({ update: true })).toEqual({ hint: 'Did you mean `ifExists: "update"`?' });
    expect(await refused({ overwrite: true })).toEqual({ hint: 'Did you mean `ifExists: "replace"`?' });
    const { expected } = await refused({ qqqqqqqq: true });
    expect(expected).toMatch(/^one of (?:\w+, ){9}\w+ and \d+ others$/);
  });

  it("with a codec that lacks its settings, or has others", async () => {
    const source = await group();
    const target = new MemoryStore();
    await copy(source, target, { codec: { name: "blosc" } as never });
    expect((await openArray({ store: target, path: "t" })).metadata.codecs.at(-1)?.configuration).toEqual({
      ...{ cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 },
    });
    const codec = { name: "zstd", configuration: { levle: 1 } };
    const plan = planFlow(source, new MemoryStore(), { codec });
    expect(await refusal(plan)).toContain("zstd has no setting `levle`");
  });

  it("of calls that only read", async () => {
    const source = await group();
    const idle = { ifExists: "replace", storeProfile: "30ms" } as object;
    const refused = { code: "invalid-option", reason: "unknown option `ifExists`" };
    await expect(drain(digest(source, idle))).rejects.toMatchObject(refused);
    await expect(drain(diff(source, source, idle))).rejects.toMatchObject(refused);
    await expect(drain(validate(source, idle))).rejects.toMatchObject(refused);
    await expect(asStore(source, idle)).rejects.toMatchObject(refused);
    expect(() => slice(`${source}/t`, {}, idle)).toThrow("unknown option `ifExists`");
    await expect(drain(validate(source, { dryRun: true }))).rejects.toThrow(
      "`dryRun` has no effect without `fix`",
    );
    const axes = pyramid(source, new MemoryStore(), { axes: "yx", levels: 2 });
    await expect(axes).rejects.toThrow(/axes apply to arrays/);
  });
});

describe("options whose wish holds without them are named", () => {
  it.each([
    [{ anonymous: true }, "anonymous", "no store is in S3"],
    [{ missing403: true }, "missing403", "no store is a web server or in S3"],
    [{ headers: { "x-api-key": "k" } }, "headers", "no store is a web server"],
    [{ fetch: globalThis.fetch }, "fetch", "no store is a web server or in S3"],
    [{ retry: { attempts: 2 } }, "retry.attempts", "no store is a web server or in S3"],
    [{ retry: { timeout: "9s" } }, "retry.timeout", "no store is a web server or in S3"],
    [{ query: "token=t" }, "query", "no store is a web server"],
    [{ threads: 4 }, "threads", "all chunks are copied unchanged"],
    [{ threads: 4, chunks: { time: 3 } }, "threads", "the target is in this thread's memory"],
    [{ scratch: "scratch", codec: "zstd" }, "scratch", "no array gets new chunks"],
    [{ strategy: "staged" }, "strategy", "no array gets new chunks"],
    [
      { storeProfile: ["target=30ms"] },
      "storeProfile",
      "`target=30ms` is about target, none of which is on a network",
    ],
    [
      { scratch: "scratch", strategy: "direct", chunks: { time: 3 } },
      "scratch",
      "the strategy `direct` writes no scratch objects",
    ],
    [{ to: "v3", allowLoss: ["/attributes/note"] }, "allowLoss", "no node has /attributes/note"],
  ] as const)("%j", async (options, option, reason) => {
    const found = await warningsOf(await group(), options as PlanOptions);
    const code = "option-without-effect";
    expect(found).toMatchObject([
      { code, option, message: expect.stringContaining(`has no effect: ${reason}`) },
    ]);
  });

  it("nearest of a slice that has ranges of labels alone", async () => {
    const source = await group();
    const warned = async (labels: number | [number, number]) => {
      const options = { slice: { time: { labels } }, nearest: true } as const;
      return (await warningsOf(source, options)).map(({ option }) => option);
    };
    expect(await warned([1, 2])).toEqual(["nearest"]);
    expect(await warned(1)).toEqual([]);
  });

  it("access of calls that read no server", async () => {
    const source = await group();
    const named: string[] = [];
    const access = { anonymous: true, missing403: true, headers: { "x-api-key": "k" }, query: "token=t" };
    const options = {
      ...access,
      onEvent: (event: ReadEvent | WarningEvent) =>
        void (event.type === "warning" && event.option && named.push(event.option)),
    };
    const target = join(await testFolder(), "target.zarr");
    await copy(source, target);
    const calls = {
      info: () => drain(info(source, options)),
      diff: () => drain(diff(source, source, options)),
      digest: () => drain(digest(source, options)),
      digestTree: () => digestTree(source, options),
      pyramid: () => pyramid(`${source}/t`, `${target}.levels`, { ...options, axes: "yx", levels: 2 }),
      append: () => append(source, target, { ...options, dim: "time", dryRun: true }),
    };
    for (const [name, call] of Object.entries(calls)) {
      named.splice(0);
      await call().catch(() => {}); // whether it fits is no matter here
      expect([name, ...named]).toEqual([name, ...Object.keys(access)]);
    }
  });

  it("v2.separator of a source in v3", async () => {
    const v3 = new MemoryStore();
    await copy(await group(), v3, { to: "v3" });
    const warnings = await warningsOf(v3, { v2: { separator: "/" } });
    expect(warnings).toMatchObject([{ option: "v2.separator" }]);
  });

  it("when a run starts", async () => {
    const events: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => events.push(event);
    await copy(await group(), new MemoryStore(), { fsync: true, writeEmptyChunks: true, onEvent });
    const named = events.flatMap((event) => (event.type === "warning" && event.option ? [event.option] : []));
    expect(named).toEqual(["fsync", "writeEmptyChunks"]);
  });
});

describe("options that have an effect", () => {
  it.each([
    { shards: "none", to: "v3" },
    { shards: { time: 6 }, to: "v3" },
    { chunks: { time: 3 }, match: "any" },
    { include: "t", companions: false },
    { chunks: { time: 3 }, strategy: "staged", scratch: "scratch" },
    { codec: "zstd" },
    { threads: 1 },
  ] as const)("%j", async (options) => {
    expect(await warningsOf(await group(), options as PlanOptions)).toEqual([]);
  });
});
