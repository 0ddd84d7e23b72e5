// @module-tag alone
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { root } from "./built-package.ts";
import { BUCKET, type S3Server, serveBucket } from "./stores/s3-server.ts";
import { s3Environment, stubEnvironment } from "./support/s3-environment.ts";

/** What reached those that have no effect that shows in a small run: `what: argument`. */
const spied: string[] = [];

function note(what: string, values: object): void {
  for (const [name, value] of Object.entries(values))
    if (value !== undefined)
      spied.push(`${what} ${name}: ${typeof value === "object" ? "given" : String(value)}`);
}

vi.mock("../src/stores/with/rate-limit.ts", async (load) => {
  const module = await load<typeof import("../src/stores/with/rate-limit.ts")>();
  const withRateLimit: typeof module.withRateLimit = (store, limits) => {
    note("withRateLimit", limits);
    return module.withRateLimit(store, limits);
  };
  const requestTurns = (requestsPerSecond: number) => {
    note("requestTurns", { requestsPerSecond });
    return module.requestTurns(requestsPerSecond);
  };
  return { ...module, withRateLimit, requestTurns };
});

vi.mock("../src/flows/slabs/read-slabs.ts", async (load) => {
  const module = await load<typeof import("../src/flows/slabs/read-slabs.ts")>();
  const readSlabs: typeof module.readSlabs = (array, selection, options) => {
    const { threads, strategy, scratch } = options;
    note("readSlabs", { threads, strategy, scratch });
    return module.readSlabs(array, selection, options);
  };
  return { ...module, readSlabs };
});

vi.mock("../src/stores/target.ts", async (load) => {
  const module = await load<typeof import("../src/stores/target.ts")>();
  const openTargetBuild: typeof module.openTargetBuild = (spec, options) => {
    const { fsync, breakLock, resume } = options;
    note("openTargetBuild", {
      fsync: fsync || undefined,
      breakLock: breakLock || undefined,
      resume: resume && 1,
    });
    return module.openTargetBuild(spec, options);
  };
  return { ...module, openTargetBuild };
});

const api = await import("../src/index.ts");
const { MemoryStore, nameMemoryStore } = await import("../src/stores/memory.ts");
const { withRequestLog } = await import("../src/stores/with/request-log.ts");

type Api = typeof api;
type Name = { [K in keyof Api]: Api[K] extends (...args: never[]) => unknown ? K : never }[keyof Api];

/** The names of the options of each function, as its declarations have them. */
function declaredOptions(): ReadonlyMap<string, readonly string[]> {
  const entry = join(root, "src/index.ts");
  const program = ts.createProgram([entry], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    types: ["node"],
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  const found = new Map<string, readonly string[]>();
  for (const exported of module ? checker.getExportsOfModule(module) : []) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (!(symbol.flags & ts.SymbolFlags.Function) || !symbol.valueDeclaration) continue;
    const names = new Set<string>();
    for (const signature of checker.getTypeOfSymbol(symbol).getCallSignatures()) {
      for (const parameter of signature.getParameters()) {
        if (!/^(options|given)$/.test(parameter.name) || !parameter.valueDeclaration) continue;
        const type = checker.getNonNullableType(
          checker.getTypeOfSymbolAtLocation(parameter, parameter.valueDeclaration),
        );
        for (const one of type.isUnion() ? type.types : [type])
          for (const property of one.getProperties()) names.add(property.name);
      }
    }
    if (names.size > 0) found.set(exported.name, [...names].sort());
  }
  return found;
}

/** Where a call reads and writes. */
interface World {
  /** A group of arrays. */
  readonly group: string;
  /** An array. */
  readonly array: string;
  readonly target: string;
}

type Subject = (options: never, world: World) => Promise<unknown>;

async function all(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const planOf = async (planned: Promise<Awaited<ReturnType<Api["planCopy"]>>>) => {
  const { plan, close } = await planned;
  await close();
  return plan;
};

const NEW = { shape: [4, 4], chunks: [2, 2], dataType: "int16", dimensionNames: ["y", "x"] } as const;

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
  children: async (options, { group }) =>
    all(api.children(await api.openGroup(group), options)).then(pathsOf),
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
  estimateCopy: async (options, { group, target }) => {
    const planned = await api.planCopy(group, target);
    return api.estimateCopy(planned, options).finally(() => planned.close());
  },
  exists: (options, { group }) => api.exists(group, options),
  formatSlice: async (options, { array }) =>
    new Response(api.formatSlice(api.slice(array), "json", options)).text(),
  info: (options, { group }) => all(api.info(group, options)),
  open: async (options, { array }) => describeNode(await api.open(array, options)),
  openArray: async (options, { array }) => describeNode(await api.openArray(array, options)),
  openGroup: async (options, { group }) => describeNode(await api.openGroup(group, options)),
  planConvert: (options, { group, target }) =>
    planOf(api.planConvert(group, target, { to: "v3", ...(options as object) })),
  planCopy: (options, { group, target }) => planOf(api.planCopy(group, target, options)),
  planRechunk: (options, { group, target }) =>
    planOf(api.planRechunk(group, target, { chunks: { y: 1, x: 3 }, ...(options as object) })),
  planSlice: async (options, { array }) => api.planSlice(await api.openArray(array), {}, options),
  planSliceTo: (options, { group, target }) =>
    planOf(api.planSliceTo(group, target, { slice: { x: [0, 3] }, ...(options as object) })),
  pyramid: (options, { array, target }) => api.pyramid(array, target, { levels: 2, ...(options as object) }),
  rechunk: (options, { group, target }) =>
    api.rechunk(group, target, { chunks: { y: 1, x: 3 }, ...(options as object) }),
  renameNode: (options, { array }) => api.renameNode(array, "ñ", options),
  resizeArray: (options, { array }) => api.resizeArray(array, [2, 4], options),
  runFlow: async (options, { group, target }) => api.runFlow(await api.planCopy(group, target), options),
  setAttributes: (options, { array }) => api.setAttributes(array, { n: Number.NaN }, options),
  simulatePlan: async (options, { group, target }) => {
    const plan = await planOf(api.planRechunk(group, target, { chunks: { y: 1, x: 3 } }));
    return api.simulatePlan(plan, { workers: 2, latency: 1, bytesPerSecond: 1e6, ...(options as object) });
  },
  slice: async (options, { array }) => {
    const part = api.slice(array, {}, options);
    const { data } = await part.read();
    return [[...data].map(String), await new Response(part.bytes()).text()];
  },
  sliceTo: (options, { group, target }) =>
    api.sliceTo(group, target, { slice: { x: [0, 3] }, ...(options as object) }),
  tree: (options, { group }) => all(api.tree(group, options)),
  validate: (options, { group }) => all(api.validate(group, options)),
  walk: async (options, { group }) => all(api.walk(await api.openGroup(group), options)).then(pathsOf),
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
  const declared = declaredOptions();

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
