import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as api from "../src/index.ts";
import { type MemoryStore, nameMemoryStore } from "../src/stores/memory.ts";
import { toHex } from "../src/util/bytes.ts";
import { root } from "./built-package.ts";
import { all, valuesIn } from "./support/consume.ts";
import { given, givenKeys } from "./support/given.ts";
import { declared, isShownByReading, SUBJECTS, type World } from "./support/option-subjects.ts";

/** What shows the effect of an option on a function. */
interface Case {
  /** A value that is not the default; made anew for each call. */
  readonly value: (name: string) => unknown;
  /** Other options, beside which it means something. */
  readonly beside?: (name: string) => object;
  /** Changes what is there. */
  readonly prepare?: (source: MemoryStore, name: string) => Promise<unknown>;
  readonly world?: (name: string) => Partial<World>;
  /** Whether the call fails without the option. */
  readonly fails?: (name: string) => boolean;
}

const PLACES = ["matrix", "matrix-new", "matrix-scratch"];
const WORLD: World = { group: "memory:matrix", array: "memory:matrix/t", target: "memory:matrix-new" };

const encode = (text: string) => new TextEncoder().encode(text);
const isConvert = (name: string) => name.endsWith("onvert");
const isTargetChunked = { y: 4, x: 1 };

/** A chunk that no codec decodes. */
const breakChunk = (source: MemoryStore) => source.set("t/1.1", encode("no chunk"));

/** Options whose effect shows in what a call gives, writes, says or refuses. */
const CASES: Readonly<Record<string, Case>> = {
  all: { value: () => true },
  allowLoss: {
    value: (name) => [name === "setAttributes" ? "/attributes/n" : "/attributes/none"],
    fails: (name) => name === "setAttributes",
  },
  allowUnicode: {
    value: () => true,
    prepare: async () => (await api.createGroup(WORLD.target, { zarrFormat: "v2" })).close(),
    world: (name) => (name.startsWith("create") ? { target: "memory:matrix-new/ñ" } : {}),
    fails: () => true,
  },
  companions: { value: () => false, beside: () => ({ include: "t" }) },
  arrays: { value: () => ({ t: { dataType: "float64" } }) },
  axes: { value: () => "xy" },
  base: { value: () => "/data" },
  cells: { value: () => true },
  chunks: { value: () => isTargetChunked },
  codec: { value: () => "gzip:1" },
  consolidated: { value: () => true },
  decode: { value: () => true },
  deep: { value: () => true, prepare: breakChunk },
  dim: { value: () => "x" },
  dryRun: {
    value: () => true,
    beside: (name) => (name === "validate" ? { fix: true } : {}),
    prepare: (source) => source.set(".zmetadata", encode('{"zarr_consolidated_format": 1, "metadata": {}}')),
  },
  exclude: { value: () => "u" },
  factor: { value: () => 4 },
  fix: {
    value: () => true,
    prepare: (source) => source.set(".zmetadata", encode('{"zarr_consolidated_format": 1, "metadata": {}}')),
  },
  flags: { value: () => true, beside: () => ({ decode: true }), world: () => ({ array: "memory:matrix/f" }) },
  flat: { value: () => true },
  fsync: { value: () => true },
  ifExists: {
    value: (name) => (name.startsWith("plan") ? "skip" : "replace"),
    prepare: () => api.copy("memory:matrix", WORLD.target),
    fails: (name) => !name.startsWith("plan"),
  },
  include: { value: () => "t" },
  keepFormats: { value: () => true },
  levels: { value: () => 3 },
  match: { value: () => "any", beside: () => ({ chunks: { y: 1, x: 1 } }) },
  method: { value: () => "max" },
  mustChange: { value: () => true, beside: () => ({ chunks: { y: 2, x: 2 } }) },
  nearest: { value: () => true, beside: () => ({ sel: { y: 2.1 } }), fails: () => true },
  onEvent: {
    value: () => vi.fn(),
    // of some, all that is heard are warnings
    beside: (name) => {
      if (name === "validate") return { deep: true };
      return name === "info" ? { anonymous: true } : {};
    },
  },
  onBroken: { value: () => vi.fn(), prepare: breakChunk, fails: () => true },
  onFailure: { value: () => vi.fn(), prepare: breakChunk },
  onWarning: { value: () => vi.fn() },
  outside: { value: () => "delete" },
  part: { value: () => ({ number: 2, of: 2 }) },
  replace: { value: () => true, beside: () => ({ allowLoss: ["/attributes/n"] }) },
  scratch: {
    value: () => "memory:matrix-scratch",
    beside: (name) => (name === "readDecoded" ? {} : { strategy: "staged" }),
  },
  sel: { value: () => ({ y: 2 }) },
  shards: { value: () => ({ y: 4, x: 6 }), beside: () => ({ to: "v3" }) },
  slice: { value: () => ({ x: [1, 3] }) },
  stop: { value: () => AbortSignal.abort() },
  storeProfile: { value: () => "30ms" },
  strategy: { value: () => "staged" },
  threads: { value: () => 3 },
  to: { value: (name) => (isConvert(name) ? "v2" : "v3") },
  values: { value: () => true, prepare: () => api.setAttributes("memory:matrix/t", { n: 7 }) },
  verify: { value: () => "values" },
  wrap: { value: () => vi.fn((store: unknown) => store) },
  writeEmptyChunks: {
    value: () => true,
    beside: (name) => (name === "asStore" ? { chunks: { y: 3, x: 4 } } : {}),
  },
};

const ATTRIBUTES = { n: 1, m: 2, scale_factor: 2 };
const DIMS = { shape: [4, 4], chunks: [2, 2], dimensionNames: ["y", "x"] };

let content: Promise<Map<string, Uint8Array>> | undefined;

/** What is there, made once. */
async function newSource(): Promise<MemoryStore> {
  content ??= given({
    zarrFormat: "v2",
    arrays: {
      t: { ...DIMS, dataType: "int16", values: (i) => (i < 12 ? 0 : i), attributes: ATTRIBUTES },
      v: { dataType: "int8", chunks: [2], dimensionNames: ["y"], values: [1, 2, 3, 4] },
      u: { ...DIMS, dataType: "int16" },
      f: {
        ...{ ...DIMS, dataType: "uint8", values: (i) => i % 2 },
        attributes: { flag_values: [0, 1], flag_meanings: "a b" },
      },
      x: { dataType: "float64", dimensionNames: ["x"], values: new Float64Array([10, 20, 30, 40]) },
      y: { dataType: "float64", dimensionNames: ["y"], values: new Float64Array([1, 2, 3, 4]) },
    },
  }).then((store) => valuesIn(store));
  return givenKeys(Object.fromEntries(await content));
}

/** A call with its options, on what is there: what it gives, and all that is there then. */
async function outcome(name: string, options: object, { prepare, world }: Case): Promise<string> {
  const source = await newSource();
  for (const place of PLACES) nameMemoryStore(place, undefined);
  nameMemoryStore("matrix", source);
  await TARGETS[name]?.();
  await prepare?.(source, name);
  const events: { readonly type: string }[] = [];
  const onEvent = (event: { readonly type: string }) => events.push(event);
  const heard = declared.get(name)?.includes("onEvent") ? { onEvent } : {};
  const subject = SUBJECTS[name] as (options: object, world: World) => Promise<unknown>;
  const own = OWN_WORLD[name] ?? {};
  const given = { ...NEEDED[name], ...heard, ...options };
  const came = await subject(given, { ...WORLD, ...own, ...world?.(name) }).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: String(error) }),
  );
  const spies = Object.values(options).filter((value) => vi.isMockFunction(value));
  const calls = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  const told = events.flatMap((one) =>
    /^(warning|plan)$/.test(one.type) ? [one.type, plain(one)] : one.type,
  );
  const heardOf = [...new Set(told)].sort();
  const stores = [await contentOf(WORLD.group), await contentOf(WORLD.target)];
  return plain({ ...came, heardOf, calls, stores });
}

/** What comes of a call without the option: asked for twice, and once for all options that have the same beside them. */
async function outcomeWithout(name: string, beside: object, one: Case): Promise<string> {
  const { prepare, world } = one;
  const key = `${name} ${JSON.stringify(beside)}`;
  const known = prepare || world ? undefined : baselines.get(key);
  if (known !== undefined) return known;
  const without = await outcome(name, beside, one);
  expect(await outcome(name, beside, one)).toBe(without);
  if (!prepare && !world) baselines.set(key, without);
  return without;
}
const baselines = new Map<string, string>();

/** Options that a function needs. */
const NEEDED: Readonly<Record<string, object>> = { append: { dim: "y" } };
/** What functions need that have an array as their target. */
const IN_NEW = { target: "memory:matrix-new/t" };
const OWN_WORLD: Readonly<Record<string, Partial<World>>> = { append: IN_NEW, diff: IN_NEW };
const other = () => {
  const array = { ...DIMS, dataType: "int16", values: (i: number) => i * i, attributes: ATTRIBUTES };
  return given({ at: IN_NEW.target, zarrFormat: "v2", ...array });
};
const TARGETS: Readonly<Record<string, () => Promise<unknown>>> = { append: other, diff: other };

async function contentOf(url: string): Promise<unknown> {
  const { store } = await api.open(url).catch(() => ({ store: undefined }));
  const content: [string, string][] = [];
  if (store === undefined || !("list" in store)) return content;
  for (const { key } of await all((store as MemoryStore).list("")))
    content.push([key, toHex((await store.get(key)) ?? new Uint8Array())]);
  return content;
}

/** Figures that differ from run to run. */
const MEASURED = /second|duration|time|peak|id$|memory|since|rate|bytesPer|latency/i;

/** A value as JSON, without what is measured. */
function plain(value: unknown): string {
  return JSON.stringify(value, (key, one: unknown) => {
    if (typeof one === "bigint") return `${one}n`;
    if (typeof one === "function") return "function";
    return typeof one === "number" && MEASURED.test(key) ? undefined : one;
  });
}

afterEach(() => {
  for (const place of PLACES) nameMemoryStore(place, undefined);
});

const pairs = [...declared].flatMap(([name, options]) => options.map((option) => [option, name] as const));

/** Files of tests that show the effect of an option, on all functions that have it or on one. */
const SHOWN: Readonly<Record<string, string>> = {
  breakLock: "test/flows/locked-folders.test.ts",
  concurrency: "test/flows/request/store-settings.test.ts",
  consistent: "test/flows/source-changed.test.ts",
  context: "test/flows/context.test.ts",
  resume: "test/flows/resume.test.ts",
  strict: "test/flows/slice-to.test.ts",
  v1Order: "test/flows/v1.test.ts",
  v2: "test/flows/registered-codec.test.ts",
  trustMap: "test/flows/planned.test.ts",
  verifySource: "test/flows/verify.test.ts",
  ...Object.fromEntries(
    (declared.get("simulatePlan") ?? []).map((option) => [
      `${option}, simulatePlan`,
      "test/flows/jobs/simulate.test.ts",
    ]),
  ),
  ...Object.fromEntries(
    pairs
      .filter(([option, name]) => option === "onEvent" && /^(?:plan|readPlan)/.test(name))
      .map((pair) => [pair.join(", "), "test/run/run-options.test.ts"]),
  ),
  "writeEmptyChunks, plan": "test/flows/rechunk.property.test.ts",
  "dryRun, clean": "test/flows/clean.test.ts",
  "scratch, planSlice": "test/flows/slice.property.test.ts",
  "onWarning, resizeArray": "test/flows/followed-conventions.test.ts",
};

const shownBy = (option: string, name: string) => SHOWN[`${option}, ${name}`] ?? SHOWN[option];
const isShownElsewhere = (option: string, name: string) =>
  shownBy(option, name) !== undefined || isShownByReading(option, name);

it("each option of each function has a case, or a test that is named", () => {
  const without = pairs.filter(([option, name]) => !isShownElsewhere(option, name) && !CASES[option]);
  expect(without).toEqual([]);
  for (const [pair, file] of Object.entries(SHOWN)) {
    const [option = "", name] = pair.split(", ");
    expect(
      pairs.some((one) => one[0] === option && (name === undefined || one[1] === name)),
      pair,
    ).toBe(true);
    expect(readFileSync(join(root, file), "utf8")).toMatch(new RegExp(`\\b${option}\\b`));
  }
});

/** Options that the calls give themselves. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  append: ["dim"],
  convert: ["to"],
  plan: ["chunks"],
  pyramid: ["levels"],
  rechunk: ["chunks"],
  simulatePlan: ["workers", "latency", "bytesPerSecond"],
  sliceTo: ["slice"],
};

it.each([...declared])(
  "options that are undefined are as if they were not given: %s",
  async (name, options) => {
    const others = options.filter((option) => option !== "onEvent" && !OWN[name]?.includes(option));
    const none = Object.fromEntries(others.map((option) => [option, undefined]));
    const usual = { value: () => undefined };
    expect(await outcome(name, none, usual)).toBe(await outcomeWithout(name, {}, usual));
  },
);

describe("an option has an effect on each function that has it, or is refused:", () => {
  const shown = pairs.flatMap(([option, name]) => {
    const one = CASES[option];
    return one && !isShownElsewhere(option, name) ? [[option, name, one] as const] : [];
  });
  it.each(shown)("%s, %s", async (option, name, one) => {
    const beside = one.beside?.(name) ?? {};
    const without = await outcomeWithout(name, beside, one);
    expect(without.startsWith('{"error"')).toBe(one.fails?.(name) ?? false);
    expect(await outcome(name, { ...beside, [option]: one.value(name) }, one)).not.toBe(without);
  });
});
