import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as slabs from "../src/flows/slabs/read-slabs.ts";
import * as api from "../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../src/stores/memory.ts";
import * as requests from "../src/stores/remote/fetch-with-timeout.ts";
import { onRetry } from "../src/stores/remote/retry-events.ts";
import * as rateLimit from "../src/stores/with/rate-limit.ts";
import * as pauses from "../src/util/pause.ts";
import { root } from "./built-package.ts";
import { BUCKET, type S3Server, serveBucket } from "./stores/s3-server.ts";
import { all } from "./support/consume.ts";
import { s3Environment, stubEnvironment } from "./support/s3-environment.ts";
import { oneIn } from "./support/samples.ts";

type Api = typeof api;

/** The names of the options of each function, as `test/public-api.test.ts` finds them in its declarations. */
const declared = new Map(
  readFileSync(join(root, "test/approved/options.txt"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [name = "", options = ""] = line.split(": ");
      return [name, options.split(" ")] as const;
    }),
);

/** Where a call reads and writes. */
interface World {
  /** A group of arrays. */
  readonly group: string;
  /** An array. */
  readonly array: string;
  readonly target: string;
}

type Subject = (options: never, world: World) => Promise<unknown>;

const planOf = async (planning: ReturnType<Api["plan"]>) => {
  const planned = await planning;
  await planned.close();
  return planned.plan;
};

const NEW = { shape: [4, 4], chunks: [2, 2], dataType: "int16", dimensionNames: ["y", "x"] } as const;

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
const SUBJECTS: Readonly<Record<string, Subject>> = {
  append: (options, { array, target }) => api.append(array, target, options),
  asStore: async (options, { group }) => {
    const store = await api.asStore(group, options);
    const keys = "list" in store && store.list ? await all(store.list("")) : [];
    const array = await api.openArray({ store, path: "t" }).catch(() => api.openArray(store));
    const { data } = await api.slice(array).read();
    await store.close?.();
    return [keys, [...data].map(String)];
  },
  children: (options, { group }) => all(api.children(group, options)).then(pathsOf),
  clean: async (options, { target }) => all(api.clean(target, options)),
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

describe("every option of every function", () => {
  it("is of a function that is called here", () => {
    expect(Object.keys(SUBJECTS).sort()).toEqual([...declared.keys()].sort());
  });

  it.each([...declared])(
    "%s: a name that is none is refused, with the one that is near",
    async (name, options) => {
      const world = { group: "memory:none", array: "memory:none", target: "memory:none-target" };
      const [known = ""] = [...options].sort((a, b) => b.length - a.length);
      const misspelt = `${known.slice(0, -2)}${known.slice(-1)}`;
      const store = new MemoryStore();
      nameMemoryStore("none", store);
      const writer = await api.createGroup(store, { zarrFormat: "v3" });
      await (await writer.create("t", NEW)).close();
      await writer.close();
      const subject = SUBJECTS[name] as (options: object, world: World) => Promise<unknown>;
      const array =
        /^(open|renameNode|resizeArray|setAttributes|deleteNode|append|diff|formatSlice|pyramid|planSlice|slice|writeRegion|openArray)$/;
      const at = array.test(name) ? { ...world, array: "memory:none/t" } : world;
      const error = await subject({ [misspelt]: true }, at).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "invalid-option" });
      expect(error).toMatchObject({ message: expect.stringContaining(misspelt) });
      expect(String((error as { details: { hint?: string } }).details.hint)).toContain(known);
    },
  );
});

describe("options of reading have their effect on every function that has them:", () => {
  let server: S3Server;
  let isMissing403 = false;
  let isFailing = false;

  beforeAll(async () => {
    server = await serveBucket({ open: true });
    server.fault = async (response, { key, method }) => {
      const isRefused = isMissing403 && method !== "PUT" && key !== "" && !server.objects.has(key);
      if (isRefused || isFailing) response.writeHead(isFailing ? 500 : 403).end();
      return isRefused || isFailing;
    };
    stubEnvironment(s3Environment(server.endpoint));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  const worldOf = (name: string): World => {
    const url = `s3://${BUCKET}`;
    const target = { diff: `${url}/g/t`, append: "memory:effects/t", clean: `${url}/g` }[name];
    return { group: `${url}/g`, array: `${url}/g/t`, target: target ?? "memory:effects-new" };
  };

  beforeEach(async () => {
    const store = new MemoryStore();
    const group = await api.createGroup(store, { zarrFormat: "v2" });
    for (const name of ["t", "u"]) {
      const array = await group.create(name, NEW);
      await array.write(
        [],
        Int16Array.from({ length: 16 }, (_, i) => i + 1),
      );
      await array.close();
    }
    await group.close();
    nameMemoryStore("effects", store);
    nameMemoryStore("effects-new", new MemoryStore());
    server.objects.clear();
    for await (const { key } of store.list(""))
      server.objects.set(`g/${key}`, Buffer.from((await store.get(key)) ?? []));
    server.requests.length = 0;
    for (const name of ["withRateLimit", "requestTurns"] as const) vi.spyOn(rateLimit, name);
    vi.spyOn(slabs, "readSlabs");
    isMissing403 = false;
    isFailing = false;
  });
  afterEach(() => {
    vi.restoreAllMocks();
    nameMemoryStore("effects", undefined);
    nameMemoryStore("effects-new", undefined);
  });

  /** What comes of a call: what it gives, or the code of its error. */
  const outcome = async (name: string, options: object): Promise<unknown> => {
    const base = name === "append" ? { dim: "y" } : name.startsWith("create") ? { ifExists: "replace" } : {};
    const subject = SUBJECTS[name] as (options: object, world: World) => Promise<unknown>;
    try {
      return { given: await subject({ ...base, ...options }, worldOf(name)) };
    } catch (error) {
      return { code: (error as { code?: string }).code };
    }
  };

  const having = (option: string) =>
    [...declared].flatMap(([name, options]) => (options.includes(option) ? [name] : []));
  const readers = (option: string) => having(option).filter((name) => !/^(create|simulatePlan)/.test(name));

  /** A test for one function in three, and in the long run for all; each option leaves out others. */
  function effect(option: string, names: readonly string[], run: (name: string) => Promise<void>): void {
    names.forEach((name, i) => {
      it(`${option}, ${name}`, oneIn(3, i + option.length), () => run(name));
    });
  }

  effect("anonymous", readers("anonymous"), async (name) => {
    const areSigned = () => server.requests.map(({ headers }) => headers.authorization !== undefined);
    await outcome(name, {});
    expect(areSigned()).toContain(true);
    server.requests.length = 0;
    await outcome(name, { anonymous: true });
    expect(areSigned()).toContain(false);
    expect(areSigned()).not.toContain(true);
  });

  effect("missing403", readers("missing403"), async (name) => {
    server.objects.delete("g/t/0.0");
    for (const key of [...server.objects.keys()].filter((one) => one.endsWith(".zattrs")))
      server.objects.delete(key);
    isMissing403 = true;
    const without = await outcome(name, {});
    expect(without).not.toEqual(await outcome(name, { missing403: true }));
  });

  effect("beforeRequest", readers("beforeRequest"), async (name) => {
    const beforeRequest = vi.fn(async () => {});
    await outcome(name, { beforeRequest });
    expect(beforeRequest).toHaveBeenCalled();
  });

  effect("fetch", readers("fetch"), async (name) => {
    const fetch = vi.fn(globalThis.fetch);
    await outcome(name, { fetch });
    expect(server.requests.length).toBeGreaterThan(0);
    expect(fetch).toHaveBeenCalledTimes(server.requests.length);
  });

  effect("retry", readers("retry"), async (name) => {
    isFailing = true;
    vi.spyOn(pauses, "pause").mockResolvedValue();
    const sent = vi.spyOn(requests, "fetchWithTimeout");
    const attempts: number[] = [];
    const end = onRetry(({ attempt }) => attempts.push(attempt));
    await outcome(name, { retry: { attempts: 3, timeout: "7s" } });
    end();
    expect(Math.max(...attempts)).toBe(2);
    expect(new Set(sent.mock.calls.map(([, , , { silence }]) => silence))).toEqual(new Set([7000]));
  });

  effect("maxMetadata", readers("maxMetadata"), async (name) => {
    const limited = JSON.stringify(await outcome(name, { maxMetadata: 1 }));
    expect(limited).toMatch(/resource-limit|document is too large/);
  });

  effect("requestsPerSecond", readers("requestsPerSecond"), async (name) => {
    await outcome(name, { requestsPerSecond: 12_345 });
    expect(rateLimit.requestTurns).toHaveBeenCalledWith(12_345);
  });

  effect("bytesPerSecond", readers("bytesPerSecond"), async (name) => {
    await outcome(name, { bytesPerSecond: "123MB" });
    const limits = expect.objectContaining({ bytesPerSecond: 123e6 });
    expect(rateLimit.withRateLimit).toHaveBeenCalledWith(expect.anything(), limits);
  });

  effect("signal", having("signal"), async (name) => {
    expect(await outcome(name, { signal: AbortSignal.abort() })).toEqual({ code: "aborted" });
  });

  effect("maxMemory", readers("maxMemory"), async (name) => {
    const how =
      name === "validate" ? { deep: true } : /opy$|onvert$|asStore/.test(name) ? { chunks: { y: 3 } } : {};
    expect(await outcome(name, { ...how, maxMemory: 20 })).toEqual({ code: "budget-too-small" });
  });

  it.each(["slice", "digest", "digestTree"])("threads, scratch and strategy, %s", async (name) => {
    const scratch = "memory:effects-scratch";
    await outcome(name, { threads: 3, strategy: "direct", scratch });
    const given = expect.objectContaining({ threads: 3, strategy: "direct", scratch: expect.anything() });
    expect(slabs.readSlabs).toHaveBeenCalledWith(expect.anything(), expect.anything(), given);
  });
});

it("mustChange, isLeftOut and onLeftOut have their effect", async () => {
  const store = new MemoryStore();
  const group = await api.createGroup(store);
  await (await group.create("t", NEW)).close();
  await group.close();
  const same = api.plan(store, new MemoryStore(), { chunks: { y: 2, x: 2 }, mustChange: true });
  await expect(same).rejects.toMatchObject({ code: "invalid-option" });
  const onLeftOut = vi.fn();
  const walked = await all(
    api.walk(await api.openGroup(store), { isLeftOut: (path) => path === "t", onLeftOut }),
  );
  expect(walked).toEqual([]);
  expect(onLeftOut).toHaveBeenCalledWith("t");
});

/** The tests that show the effect of options of single functions. */
const SHOWN: Readonly<Record<string, string>> = {
  all: "test/stores/s3/credentials.test.ts",
  allowLoss: "test/interop/conventions.test.ts",
  allowUnicode: "test/hierarchy/create/create.test.ts",
  alone: "test/flows/companions.test.ts",
  arrays: "test/flows/planned.test.ts",
  axes: "test/flows/sharded.property.test.ts",
  base: "test/flows/fetch-handler.test.ts",
  breakLock: "test/flows/locked-folders.test.ts",
  cells: "test/flows/digest-tree.test.ts",
  chunks: "test/flows/request/chunk-selectors.test.ts",
  codec: "test/flows/registered-codec.test.ts",
  consistent: "test/flows/source-changed.test.ts",
  consolidated: "test/flows/validate-fix.test.ts",
  cores: "test/flows/jobs/simulate.test.ts",
  decode: "test/interop/python-tables.test.ts",
  deep: "test/flows/draft.test.ts",
  dim: "test/flows/append.test.ts",
  dryRun: "test/flows/validate-fix.test.ts",
  exclude: "test/flows/unreadable.test.ts",
  factor: "test/flows/pyramid.test.ts",
  failuresPerHour: "test/flows/jobs/simulate.test.ts",
  fix: "test/flows/validate-fix.test.ts",
  flags: "test/flows/slabs/formats/tables.test.ts",
  flat: "test/flows/unstated-separator.test.ts",
  fsync: "test/flows/run/executors/threads.test.ts",
  ifExists: "test/flows/update/run-update.test.ts",
  headers: "test/stores/remote/private-access.test.ts",
  include: "test/flows/request/key-filter.test.ts",
  concurrency: "test/flows/request/usual-concurrency.test.ts",
  keepFormats: "test/flows/two-formats.test.ts",
  latency: "test/flows/store-profiles.test.ts",
  levels: "test/flows/pyramid/target-terms.test.ts",
  match: "test/flows/request/chunk-selectors.test.ts",
  method: "test/stores/zip/zip-store.test.ts",
  nearest: "test/flows/request/labels/look-up-labels.test.ts",
  onBroken: "test/flows/diff.test.ts",
  onEvent: "test/flows/resume-scratch.test.ts",
  onFailure: "test/flows/fetch-handler.test.ts",
  onWarning: "test/flows/followed-conventions.test.ts",
  outside: "test/stores/directory.test.ts",
  part: "test/flows/slice-to.test.ts",
  prefixes: "test/flows/jobs/simulate.test.ts",
  prices: "test/flows/jobs/simulate.test.ts",
  query: "test/stores/remote/private-access.test.ts",
  replace: "test/flows/source-changed.test.ts",
  resume: "test/flows/resume-after-restart.test.ts",
  seed: "test/flows/as-store.test.ts",
  sel: "test/flows/request/labels/look-up-labels.test.ts",
  shards: "test/flows/sharded.property.test.ts",
  slice: "test/flows/slabs/formats/tables.test.ts",
  stop: "test/interop/s3-ring.test.ts",
  storeProfile: "test/flows/store-profiles.test.ts",
  stragglers: "test/flows/jobs/simulate.test.ts",
  strict: "test/flows/slice-to.test.ts",
  to: "test/flows/missing-values.test.ts",
  trustMap: "test/flows/planned.test.ts",
  v1Order: "test/flows/v1-chunks.test.ts",
  v2: "test/flows/registered-codec.test.ts",
  values: "test/flows/diff.test.ts",
  verify: "test/flows/verify-matrix.test.ts",
  verifySource: "test/flows/verify-source.test.ts",
  wrap: "test/flows/hostile-metadata.test.ts",
  writeEmpty: "test/flows/strategies.property.test.ts",
  workers: "test/flows/jobs/simulate.test.ts",
};

/** Those whose effect is shown above, on each function. */
const SHOWN_HERE = [
  "mustChange",
  "isLeftOut",
  "onLeftOut",
  "anonymous",
  "missing403",
  "beforeRequest",
  "fetch",
  "retry",
  "maxMetadata",
  "requestsPerSecond",
  "bytesPerSecond",
  "signal",
  "maxMemory",
  "threads",
  "scratch",
  "strategy",
];

it("each option has a test that shows its effect", () => {
  const options = new Set([...declared.values()].flat());
  const known = [...SHOWN_HERE, ...Object.keys(SHOWN)];
  expect([...options].sort()).toEqual(known.sort());
  for (const [option, file] of Object.entries(SHOWN))
    expect(readFileSync(join(root, file), "utf8")).toMatch(new RegExp(`\\b${option}\\b`));
});
