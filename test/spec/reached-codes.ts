import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { taskNumber } from "../../src/cli/task-number.ts";
import type { FlowEvent } from "../../src/flows/events.ts";
import { parsePlan } from "../../src/flows/jobs/parse-plan.ts";
import { planFileOf } from "../../src/flows/jobs/plan-file.ts";
import { finishPlan, runShare } from "../../src/flows/jobs/run-share.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import {
  copy,
  create,
  createGroup,
  type ErrorCode,
  open,
  openArray,
  rechunk,
  renameNode,
  slice,
} from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { asyncFileCalls } from "../../src/stores/files/file-calls.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { openTargetBuild } from "../../src/stores/target.ts";
import { ZipStore } from "../../src/stores/zip.ts";
import { UnlistedStore } from "../hierarchy/stores.ts";
import { BytesReader } from "../stores/bytes-reader.ts";
import { type Fault, type Manners, serveValues } from "../stores/value-server.ts";
import { type Content, hex, nodeIn, opens, storeOf, valuesIn } from "./stores.ts";
import * as v2 from "./v2/kit.ts";
import * as draft from "./v3-draft-2019/kit.ts";
import { array, bytes, GZIP, group } from "./v3-final/kit.ts";

const NEW = { shape: [4], chunks: [2], dataType: "uint8" } as const;
const SOURCE = bytes(4, {}, "01020304");

/** A read by HTTP of a value of ten bytes. */
async function readByHttp(manners: Manners, fault?: Fault): Promise<unknown> {
  const server = await serveValues(new Map([["a", new Uint8Array(10)]]), manners);
  if (fault) server.faults.push(fault);
  try {
    const store = new HttpStore(server.url, { retry: { attempts: 1 } });
    return await store.get("a", { range: { offset: 2, length: 4 } });
  } finally {
    await server.close();
  }
}

const answers = (status: number): Fault => {
  return (response) => {
    response.writeHead(status).end();
    return true;
  };
};

/** A write to a folder of a system that fails so. */
function writeWhere(folder: string, system: string): Promise<void> {
  const open = () =>
    Promise.reject(Object.assign(new Error(system), { code: system, syscall: "open", errno: -1 }));
  return new DirectoryStore(folder, { files: { ...asyncFileCalls, open }, exclusive: true }).set(
    "a",
    new Uint8Array(1),
  );
}

async function copyOf(content: Content, store: MemoryStore, options = {}): Promise<unknown> {
  return copy({ store: await storeOf(content), path: "" }, store, options);
}

/** Keeps other bytes than it is given as chunks. */
class DamagingStore extends MemoryStore {
  override async set(key: string, value: Uint8Array): Promise<void> {
    await super.set(key, key.endsWith("zarr.json") ? value : value.map((byte) => byte ^ 1));
  }
}

/** Its values are shorter than its list says. */
class ShrinkingStore extends MemoryStore {
  override async get(...args: Parameters<MemoryStore["get"]>): Promise<Uint8Array | undefined> {
    const value = await super.get(...args);
    return args[0].endsWith("zarr.json") ? value : value?.subarray(0, 1);
  }
}

async function copyWhileItShrinks(): Promise<unknown> {
  const store = new ShrinkingStore();
  const made = await storeOf(SOURCE);
  for await (const { key } of made.list("")) await store.set(key, (await made.get(key)) ?? new Uint8Array());
  return copy(store, new MemoryStore());
}

/** A call that ends with each code of the closed list; `folder` is a new one. */
export const REACHED: Readonly<Record<ErrorCode, (folder: string) => unknown>> = {
  "not-found": () => nodeIn({}, "a"),
  "invalid-metadata": () => nodeIn({ ".zarray": "{" }),
  "unsupported-format": () =>
    nodeIn(draft.hierarchy({}, { zarr_format: "https://purl.org/zarr/spec/protocol/core/4.0" })),
  "unsupported-encoding": () => nodeIn(draft.hierarchy({}, { metadata_encoding: "application/xml" })),
  "unsupported-data-type": () => nodeIn(draft.array({ data_type: { extension: draft.URI, type: "x" } })),
  "unsupported-codec": () => opens(bytes(2, { codecs: ["bytes", "nosuch"] })),
  "unsupported-extension": () =>
    nodeIn(draft.hierarchy({}, { extensions: [{ extension: draft.URI, must_understand: true }] })),
  "unsupported-operation": async () =>
    renameNode(await open({ store: new UnlistedStore(await storeOf(array())), path: "" }), "a"),
  "loss-refused": () => create(new MemoryStore(), { ...NEW, zarrFormat: "v1", codec: "blosc:zstd:5" }),
  "path-not-allowed": () => nodeIn({}, "a/../b"),
  "invalid-node-name": async () => (await createGroup(new MemoryStore(), {})).createGroup("a/b"),
  "invalid-selection": async () => slice(await openArray(await storeOf(SOURCE)), [[0, 1, 0]]).read(),
  "invalid-option": () => create(new MemoryStore(), { ...NEW, shape: [-1] }),
  "budget-too-small": async () =>
    rechunk(await nodeIn(SOURCE), new MemoryStore(), { chunks: [2], maxMemory: 1 }),
  "resource-limit": async () => open(await storeOf(array()), { maxMetadata: 10 }),
  "corrupt-chunk": () => valuesIn(bytes(4, { codecs: ["bytes", GZIP] }, gzipSync(hex("010203")))),
  "codec-error": () =>
    valuesIn(
      v2.bytes(
        16,
        { compressor: { id: "blosc", cname: "zstd", clevel: 5, shuffle: 1, blocksize: 0 } },
        // a frame of zstd 0.7
        hex("02018001 10000000 10000000 20000000 14000000 08000000 27b52ffd 00000000"),
      ),
    ),
  "corrupt-store": () => ZipStore.open(new BytesReader(new Uint8Array(100)), "zip"),
  "short-read": () => readByHttp({ shiftsRanges: true }),
  transient: () => readByHttp({}, answers(503)),
  "access-denied": () => readByHttp({}, answers(403)),
  "no-space": (folder) => writeWhere(folder, "ENOSPC"),
  "too-many-files": (folder) => writeWhere(folder, "EMFILE"),
  "target-exists": async () => copyOf(SOURCE, await storeOf(group())),
  "target-inside-source": async () => {
    const store = await storeOf(group({}, { "a/zarr.json": group()["zarr.json"] }));
    return copy(store, { store, path: "a" }, { ifExists: "replace" });
  },
  "target-not-empty": async (folder) => {
    await mkdir(join(folder, "t"));
    await writeFile(join(folder, "t/notes.txt"), "");
    return copy(await storeOf(SOURCE), join(folder, "t"), { ifExists: "replace" });
  },
  locked: async (folder) => {
    const target = { kind: "directory", path: join(folder, "t.zarr") } as const;
    const build = await openTargetBuild(target, { ifExists: "error" });
    // as another run does that takes it for abandoned
    await rm(build.controlFolder ?? "", { recursive: true });
    await build.publish();
  },
  "plan-mismatch": async (folder) => {
    const target = join(folder, "t.zarr");
    const stopping = new AbortController();
    const onEvent = ({ type }: FlowEvent) => {
      if (type === "task-end") stopping.abort();
    };
    const source = await storeOf(SOURCE);
    await rechunk(source, target, { chunks: [2], stop: stopping.signal, onEvent }).catch(() => {});
    return rechunk(source, target, { chunks: [3], resume: true });
  },
  "source-changed": copyWhileItShrinks,
  differs: () => copyOf(SOURCE, new DamagingStore(), { verify: true }),
  "task-count-missing": () => taskNumber({ index: "1" }, {}),
  "tasks-undone": async (folder) => {
    await copy(await storeOf(SOURCE), join(folder, "s.zarr"));
    const planned = await planFlow(join(folder, "s.zarr"), join(folder, "t.zarr"), { chunks: [1] });
    const encoders = { zarrflow: "", zlib: "" };
    const text = JSON.stringify(planFileOf(planned, { encoders }));
    await planned.close();
    const file = parsePlan(text);
    await runShare(file, { encoders, index: 0, count: 2 });
    return finishPlan(file, { encoders });
  },
  aborted: () => copyOf(SOURCE, new MemoryStore(), { signal: AbortSignal.abort() }),
};
