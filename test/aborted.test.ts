import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as api from "../src/index.ts";
import type { EventOptions } from "../src/run/events.ts";
import { MemoryStore, nameMemoryStore } from "../src/stores/memory.ts";
import { drain } from "./support/consume.ts";
import { given } from "./support/given.ts";

type Options = { readonly signal: AbortSignal };

const SOURCE = "memory:aborted";
const shape = { shape: [8], dataType: "int8", chunks: [2], dimensionNames: ["x"] } as const;

describe("an abort", () => {
  const store = new MemoryStore();
  let array: api.ZarrArray;
  let group: api.ZarrGroup;

  beforeAll(async () => {
    nameMemoryStore("aborted", store);
    await given({ at: store, arrays: { t: { ...shape, values: (i) => i + 1 } } });
    array = await api.openArray(`${SOURCE}/t`);
    group = await api.openGroup(SOURCE);
  });
  afterAll(() => nameMemoryStore("aborted", undefined));

  const target = () => new MemoryStore();
  const calls: Readonly<Record<string, (options: Options) => Promise<unknown>>> = {
    children: (options) => drain(api.children(group, options)),
    clean: (options) => drain(api.clean(SOURCE, options)),
    convert: (options) => api.convert(SOURCE, target(), { to: "v2", ...options }),
    copy: (options) => api.copy(SOURCE, target(), options),
    create: async (options) => {
      const writer = await api.create(target(), shape, options);
      await writer.write({ x: [0, 2] }, Int8Array.of(1, 2));
      await writer.close();
    },
    createGroup: async (options) => (await api.createGroup(target(), {}, options)).close(),
    deleteNode: (options) => api.deleteNode(`${SOURCE}/t`, options),
    diff: (options) => drain(api.diff(SOURCE, SOURCE, options)),
    digest: (options) => drain(api.digest(SOURCE, options)),
    estimateCopy: async (options) => (await api.plan(SOURCE, target())).estimateCopy(options),
    exists: (options) => api.exists(SOURCE, options),
    info: (options) => drain(api.info(SOURCE, options)),
    open: (options) => api.open(SOURCE, options),
    plan: (options) => api.plan(SOURCE, target(), { slice: { x: 0 }, ...options }),
    rechunk: (options) => api.rechunk(SOURCE, target(), { chunks: { x: 3 }, ...options }),
    renameNode: (options) => api.renameNode(`${SOURCE}/t`, "u", options),
    resizeArray: (options) => api.resizeArray(`${SOURCE}/t`, [4], options),
    run: async (options) => (await api.plan(SOURCE, target())).run(options),
    setAttributes: (options) => api.setAttributes(`${SOURCE}/t`, { a: 1 }, options),
    "slice().read": (options) => api.slice(array, {}, options).read(),
    "slice().chunks": (options) => drain(api.slice(array, {}, options).chunks()),
    "slice().bytes": (options) => drain(api.slice(array, {}, options).bytes()),
    sliceTo: (options) => api.sliceTo(SOURCE, target(), { slice: { x: 0 }, ...options }),
    tree: (options) => drain(api.tree(SOURCE, options)),
    validate: (options) => drain(api.validate(SOURCE, { deep: true, ...options })),
    walk: (options) => drain(api.walk(group, options)),
    writeRegion: (options) => api.writeRegion(array, { x: [0, 1] }, Int8Array.of(1), options),
    "store.get": (options) => store.get("t/zarr.json", options),
    "store.list": (options) => drain(store.list("", options)),
    "store.set": (options) => store.set("a", new Uint8Array(1), options),
  };

  it.each(Object.entries(calls))("of %s is `aborted`, whose cause is the reason", async (_, call) => {
    for (const reason of [new Error("enough"), "enough", undefined]) {
      const signal = AbortSignal.abort(reason);
      const error: unknown = await call({ signal }).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(api.ZarrflowError);
      expect(error).toMatchObject({ code: "aborted", exitCode: 130, cause: signal.reason });
    }
  });

  it.each(["copy", "rechunk", "convert"])("amid %s is one, too, and is of no place", async (name) => {
    const reason = new Error("enough");
    for (const when of name === "rechunk" ? ["plan", "task-start"] : ["plan"]) {
      const controller = new AbortController();
      const onEvent = ({ type }: api.FlowEvent) => {
        if (type === when) controller.abort(reason);
      };
      const options: Options & EventOptions = { signal: controller.signal, onEvent };
      const error = await calls[name]?.(options).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "aborted", cause: reason, details: {} });
    }
  });

  it("by a signal that runs out says so", async () => {
    const signal = AbortSignal.timeout(0);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await expect(api.copy(SOURCE, target(), { signal })).rejects.toMatchObject({
      code: "aborted",
      cause: { name: "TimeoutError" },
    });
  });
});
