import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import * as api from "../../src/index.ts";
import { root } from "../built-package.ts";
import { all } from "./consume.ts";

type Api = typeof api;

/** The names of the options of each function, as `test/public-api.test.ts` finds them in its declarations. */
export const declared = new Map(
  readFileSync(join(root, "test/approved/options.txt"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [name = "", options = ""] = line.split(": ");
      return [name, options.split(" ")] as const;
    }),
);

/** Where a call reads and writes. */
export interface World {
  /** A group of arrays. */
  readonly group: string;
  /** An array. */
  readonly array: string;
  readonly target: string;
}

export type Subject = (options: never, world: World) => Promise<unknown>;

const planOf = async (planning: ReturnType<Api["plan"]>) => {
  const planned = await planning;
  await planned.close();
  return planned.plan;
};

/** An array as tests of options create it. */
export const NEW = { shape: [4, 4], chunks: [2, 2], dataType: "int16", dimensionNames: ["y", "x"] } as const;

let folder = "";
/** A plan as text. */
let stored = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-test-"));
  await (await api.create(join(folder, "a.zarr"), NEW)).close();
  const planned = await api.plan(join(folder, "a.zarr"), join(folder, "b.zarr"));
  await planned.close();
  stored = JSON.stringify(planned);
});

afterAll(() => rm(folder, { recursive: true }));

/** A call of every function that has options. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  append: (options, { array, target }) => api.append(array, target, options),
  asStore: async (options, { group }) => {
    const store = await api.asStore(group, options);
    const keys = "list" in store && store.list ? await all(store.list("")) : [];
    const sizes = await Promise.all(keys.map(async ({ key }) => (await store.get(key))?.length));
    const array = await api.openArray({ store, path: "t" }).catch(() => api.openArray(store));
    const { data } = await api.slice(array).read();
    await store.close?.();
    return [keys, sizes, [...data].map(String)];
  },
  children: (options, { group }) => all(api.children(group, options)).then(pathsOf),
  clean: async (options, { target }) => all(api.clean(target, options)),
  context: async (options, { group, target }) =>
    api.rechunk(group, target, { chunks: { y: 1, x: 3 }, context: api.context(options) }),
  convert: (options, { group, target }) => api.convert(group, target, { to: "v3", ...(options as object) }),
  copy: (options, { group, target }) => api.copy(group, target, options),
  create: async (options, { target }) => {
    const writer = await api.create(target, NEW, options);
    await writer.write(
      [],
      Int16Array.from({ length: 16 }, (_, i) => (i < 8 ? 0 : i)),
    );
    await writer.close();
  },
  createGroup: async (options, { target }) => {
    const group = await api.createGroup(target, {}, options);
    const writer = await group.create("t", NEW);
    await writer.write(
      [],
      Int16Array.from({ length: 16 }, (_, i) => (i < 8 ? 0 : i)),
    );
    await writer.close();
    await group.close();
  },
  deleteNode: (options, { array }) => api.deleteNode(array, options),
  diff: (options, { array, target }) => all(api.diff(array, target, options)),
  digest: (options, { group }) => all(api.digest(group, options)),
  digestTree: (options, { group }) => api.digestTree(group, options),
  exists: (options, { group }) => api.exists(group, options),
  formatSlice: async (options, { array }) =>
    new Response(api.formatSlice(api.slice(array), "json", options)).text(),
  info: (options, { group }) => all(api.info(group, options)),
  open: async (options, { array }) => describeNode(await api.open(array, options)),
  openArray: async (options, { array }) => describeNode(await api.openArray(array, options)),
  openGroup: async (options, { group }) => describeNode(await api.openGroup(group, options)),
  plan: (options, { group, target }) =>
    planOf(api.plan(group, target, { chunks: { y: 1, x: 3 }, ...(options as object) })),
  planSlice: (options, { array }) => api.planSlice(array, {}, options),
  pyramid: (options, { array, target }) => api.pyramid(array, target, { levels: 2, ...(options as object) }),
  readDecoded: async (options, { array }) => {
    const chunks = await all(api.readDecoded(array, {}, options));
    return chunks.map(({ region, data }) => [region, data?.kind === "fixed" && [...data.bytes]]);
  },
  readPlan: async (options) => (await api.readPlan(stored, options)).plan,
  rechunk: (options, { group, target }) =>
    api.rechunk(group, target, { chunks: { y: 1, x: 3 }, ...(options as object) }),
  renameNode: (options, { array }) => api.renameNode(array, "ñ", options),
  resizeArray: (options, { array }) => api.resizeArray(array, [2, 4], options),
  setAttributes: (options, { array }) => api.setAttributes(array, { n: Number.NaN }, options),
  simulatePlan: async (options, { group, target }) => {
    const plan = await planOf(api.plan(group, target, { chunks: { y: 1, x: 3 } }));
    return api.simulatePlan(plan, { workers: 2, latency: 1, bytesPerSecond: 1e6, ...(options as object) });
  },
  slice: async (options, { array }) => {
    const part = api.slice(array, {}, options);
    const { data } = await part.read();
    return [[...data].map(String), await new Response(part.bytes()).text()];
  },
  sliceTo: (options, { group, target }) =>
    api.sliceTo(group, target, { slice: { x: [0, 3] }, ...(options as object) }),
  toFetchHandler: async (options, { group }) => {
    const handler = api.toFetchHandler(group, { chunks: { y: 3 } }, options);
    await handler.open();
    const keys = ["t/.zattrs", "t/.zarray", "t/0.0"];
    const responses = keys.map((key) => handler(new Request(`http://127.0.0.1/${key}`)));
    const bodies = await Promise.all(responses.map(async (response) => (await response).text()));
    await handler.close();
    return bodies;
  },
  tree: (options, { group }) => all(api.tree(group, options)),
  validate: (options, { group }) => all(api.validate(group, options)),
  walk: (options, { group }) => all(api.walk(group, options)).then(pathsOf),
  writeRegion: async (options, { array }) =>
    api.writeRegion(await api.openArray(array), { y: [0, 4] }, new Int16Array(16).fill(0), options),
};

function pathsOf(nodes: readonly unknown[]): unknown {
  return (nodes as { path: string }[]).map(({ path }) => path);
}

function describeNode({ kind, metadata, store }: Awaited<ReturnType<Api["open"]>>): unknown {
  return { kind, metadata, store: store.description };
}

/** Options whose effect `test/option-effects.test.ts` shows on each function that reads. */
const OF_READING = [
  ...["anonymous", "missing403", "beforeRequest", "fetch", "headers", "query", "retry", "maxMetadata"],
  ...["requestsPerSecond", "bytesPerSecond", "signal", "maxMemory"],
];
/** And those that it shows on these functions only. */
const OF_SOME: Readonly<Record<string, readonly string[]>> = {
  mustChange: ["sliceTo"],
  isLeftOut: ["children", "walk"],
  onLeftOut: ["children", "walk"],
  ...Object.fromEntries(
    ["threads", "scratch", "strategy"].map((one) => [one, ["slice", "digest", "digestTree"]]),
  ),
};

/** Whether `test/option-effects.test.ts` shows the effect of an option on a function. */
export function isShownByReading(option: string, name: string): boolean {
  return OF_READING.includes(option) || (OF_SOME[option]?.includes(name) ?? false);
}
