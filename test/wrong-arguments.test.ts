import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as api from "../src/index.ts";
import { MemoryStore } from "../src/stores/memory.ts";
import { writeV2Group } from "./support/v2-store.ts";

type Call = (...args: never[]) => unknown;

/** Values that are no argument of any function, or none of most. */
const wrongValues = (): readonly unknown[] => [
  ...[undefined, null, 0, -1, 1.5, Number.NaN, 7n, true, "", "\0", Symbol("wrong"), {}, [], [null]],
  ...[() => {}, new Date(0), new Map(), Object.create(null), { get: 1 }, { kind: "array" }],
  ...[
    { store: {}, path: "" },
    { store: new MemoryStore(), path: 1 },
  ],
  ...[
    { spec: { kind: "no-such-kind" }, path: "" },
    { spec: {}, path: "" },
  ],
];

/** Options that have a wrong value, by name. */
const WRONG_OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  signal: [1, {}, "now", new AbortController()],
  maxMemory: [{}, Number.NaN, -1, "much", "", []],
  concurrency: [0, -1, 1.5, "4", {}, Number.POSITIVE_INFINITY],
  threads: [0, -1, 1.5, "4", {}],
  strategy: ["x", "", 1, {}],
  ifExists: ["x", "", 1, true],
  to: ["v4", 3, {}],
  chunks: [1, "", "x", { x: 0 }, { x: "4" }, { nowhere: 1 }, [1, 2, 3], [[]]],
  shards: [1, "", "x", { x: 0 }, [1, 2, 3]],
  codec: [1, "no-such-codec", {}, { name: 1 }],
  slice: [1, "x", { x: 0.5 }, { x: "0" }, { x: {} }],
  allowLoss: [1, "/x", [1]],
  include: [1, [1], {}],
  exclude: [1, [1], {}],
  scratch: [1, {}],
  onEvent: [1, {}, "x"],
  verify: [1, "no"],
  fsync: [1, "no"],
  writeEmptyChunks: [1, "no"],
  requestsPerSecond: [0, -1, "x", {}],
  bytesPerSecond: [-1, "x", {}],
  v1Order: ["x", 1],
  v2: [1, "x"],
  anonymous: [1, "no"],
  missing403: [1, "no"],
};

type Stated = (value: unknown) => string | undefined;

const ofSelection: Stated = () => "invalid-selection";
/** A list or record that names no range is the whole array, which the values are too few for. */
const ofRegion: Stated = (region) => {
  const isListOrRecord =
    Array.isArray(region) || Object.prototype.toString.call(region) === "[object Object]";
  const isWhole = isListOrRecord && Object.values(region as object).every((one) => one === null);
  return isWhole ? undefined : "invalid-selection";
};
const ofEmptyStore: Stated = (source) => (source instanceof Map ? "not-found" : undefined);
const ofPlan: Stated = (plan) =>
  typeof plan === "string" || (typeof plan === "object" && plan !== null) ? "plan-mismatch" : undefined;
const ofName: Stated = (name) =>
  name === "" ? "path-not-allowed" : name === "\0" ? "invalid-node-name" : undefined;

/** The codes that functions state for arguments of the right type, by position; of all others it is `invalid-option`. */
const STATED: Readonly<Record<string, Readonly<Record<number, Stated>>>> = {
  ...Object.fromEntries(
    "asStore children convert copy digest digestTree info open openArray openGroup plan pyramid rechunk sliceTo tree validate walk"
      .split(" ")
      .map((name) => [name, { 0: ofEmptyStore }]),
  ),
  append: { 0: ofEmptyStore, 1: ofEmptyStore },
  diff: { 0: ofEmptyStore, 1: ofEmptyStore },
  planSlice: { 0: ofEmptyStore, 1: ofSelection },
  renameNode: { 1: ofName },
  readDecoded: { 0: ofEmptyStore, 1: ofSelection },
  readPlan: { 0: ofPlan },
  slice: { 0: ofEmptyStore, 1: ofSelection },
  writeRegion: { 1: ofRegion },
};

const codeStated = (name: string, at: number, value: unknown) =>
  STATED[name]?.[at]?.(value) ?? "invalid-option";
const codeOf = (error: unknown) => (api.isZarrflowError(error) ? error.code : undefined);

/** What is thrown, or how the promise, the stream or the listing that is given fails; undefined where all is well. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    const given = await call();
    if (given instanceof api.Slice) await given.read();
    else if (given instanceof ReadableStream || isGenerator(given)) for await (const _ of given);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A value in words, for whoever reads that a test failed. */
function words(value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
}

/** What failed, and the first place in the sources. */
function whereOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [place = ""] = /src\/[\w./-]+:\d+/.exec(error.stack ?? "") ?? [];
  return `${error.name}: ${error.message} (${place})`;
}

function isGenerator(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

describe("wrong arguments", () => {
  let folder = "";
  let source = "";
  let array: api.ZarrArray;
  let group: api.ZarrGroup;
  let stored = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "zarrflow-test-"));
    source = join(folder, "g.zarr");
    const t = { shape: [4], chunks: [2], dimensions: ["x"] };
    await writeV2Group(source, { t, u: t });
    array = await api.openArray(`${source}/t`);
    group = await api.openGroup(source);
    const planned = await api.plan(source, join(folder, "planned.zarr"));
    stored = JSON.stringify(planned);
    await planned.close();
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const target = () => new MemoryStore();
  const shape = { shape: [2], dataType: "int8", chunks: [2] } as const;

  /** A right call of every function that the package exports. */
  const rightCalls = (): Record<string, readonly unknown[]> => ({
    append: [source, source, { dim: "x" }],
    asStore: [source, {}],
    children: [group, {}],
    clean: [target(), {}],
    context: [{}],
    convert: [source, target(), { to: "v3" }],
    copy: [source, target(), {}],
    create: [target(), shape, {}],
    createGroup: [target(), {}, {}],
    defineStore: [{ get: () => undefined }],
    deleteNode: [array, {}],
    diff: [source, source, {}],
    digest: [source, {}],
    digestTree: [source, {}],
    exists: [source, {}],
    formatSlice: [api.slice(array), "raw"],
    info: [source, {}],
    isZarrflowError: [new Error(), "aborted"],
    like: [array],
    mergeDigestTrees: [[]],
    open: [source, {}],
    openArray: [`${source}/t`, {}],
    openGroup: [source, {}],
    placeFrames: [array],
    plan: [source, target(), {}],
    planSlice: [array, { x: 0 }, {}],
    pyramid: [`${source}/t`, target(), { factor: { x: 2 }, levels: 2 }],
    readDecoded: [array, {}, {}],
    readPlan: [stored, {}],
    rechunk: [source, target(), { chunks: { x: 1 } }],
    registerWorker: [() => undefined],
    renameNode: [array, "v", {}],
    resizeArray: [array, [4], {}],
    setAttributes: [array, {}, {}],
    simulatePlan: [],
    slice: [array, { x: 0 }, {}],
    sliceTo: [source, target(), { slice: { x: 0 } }],
    toFetchHandler: [source, {}, {}],
    tree: [source, {}],
    validate: [source, {}],
    walk: [group, {}],
    writeRegion: [array, { x: [0, 1] }, Float32Array.of(1), {}],
  });

  const functions = Object.entries(api).filter(
    ([, value]) => typeof value === "function" && !/^class/.test(String(value)),
  );

  it("are tried of every function that is exported", () => {
    expect(Object.keys(rightCalls())).toEqual(functions.map(([name]) => name).sort());
  });

  const writers = ["copy", "convert", "rechunk", "sliceTo", "plan"];
  const flows = [...writers, "tree", "diff", "digest", "digestTree", "validate", "open"];

  it.each(functions)("%s", async (name, value) => {
    const call = value as Call;
    const right = rightCalls()[name] ?? [];
    const wrong: unknown[] = [];
    const changes = /^(delete|rename|resize|setAttr|writeRegion)/.test(name);
    for (let at = 0; at < Math.max(1, right.length); at++) {
      for (const one of wrongValues()) {
        // What is no mistake would change the source of the others.
        if (changes && (one === undefined || (typeof one === "object" && at === right.length - 1))) continue;
        if (changes && at === 1 && typeof one === "object" && one !== null && name === "setAttributes")
          continue;
        const args = [...(rightCalls()[name] ?? [])];
        args[at] = one;
        const error = await failureOf(() => call(...(args as never[])));
        if (error !== undefined && codeOf(error) !== codeStated(name, at, one))
          wrong.push([at, words(one), codeOf(error), whereOf(error)]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(flows)("%s: options", async (name) => {
    const call = (api as unknown as Record<string, Call>)[name] as Call;
    const isWritten = writers.includes(name);
    const passed: unknown[] = [];
    for (const [option, values] of Object.entries(WRONG_OPTIONS)) {
      for (const value of values) {
        const args = [...(rightCalls()[name] ?? [])];
        const options = args.at(-1) as object;
        args[args.length - 1] = { ...options, [option]: value };
        const error = await failureOf(() => call(...(args as never[])));
        const isKnown = api.isZarrflowError(error);
        const isTold = isKnown || (error === undefined && !isWritten);
        if (!isTold) passed.push([option, words(value), whereOf(error)]);
        const stated =
          option === "slice" && value !== 1 && isWritten ? "invalid-selection" : "invalid-option";
        if (isKnown && error.code !== stated) passed.push([option, words(value), whereOf(error)]);
      }
    }
    expect(passed).toEqual([]);
  });
});
