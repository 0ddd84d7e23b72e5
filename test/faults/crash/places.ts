import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { copy, type FlowTarget } from "../../../src/index.ts";
import { OWNER_NAME } from "../../../src/stores/directory/owner-record.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { CONSOLIDATED_LOCK_NAME, isOwnName, isReservedKey } from "../../../src/stores/reserved-names.ts";
import { S3Store } from "../../../src/stores/s3.ts";
import type { ListableStore, WritableStore } from "../../../src/stores/store.ts";
import { openStore } from "../../../src/stores/url.ts";
import type { Awaitable } from "../../../src/util/awaitable.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY } from "../../stores/s3-server.ts";
import { CurrentCut, type Cut } from "./cut.ts";
import { cutting } from "./cut-files.ts";

/** A place for targets whose mutating calls can be cut. */
export interface Place {
  readonly targetAt: (path: string) => FlowTarget;
  /** Makes the place hold what a store holds, or nothing. */
  reset(contents: MemoryStore | undefined): Promise<void>;
  /** Runs something whose calls are cut. */
  during<T>(cut: Cut, run: () => Promise<T>): Promise<T>;
  /** Lets so much time pass that nobody holds the lock of consolidated metadata any more. */
  outlastTurns(): Promise<void>;
  /** What is there for readers; undefined for nothing. */
  open(): Promise<ListableStore | undefined>;
  /** All of that, without what is there only while something is written; empty for nothing. */
  contents?(): Awaitable<Contents>;
  /** All that is there, as if every run had the same random name: what the next run depends on. */
  everything?(): Contents;
}

/** Values by their keys; of a zip, its bytes by an empty one. */
export type Contents = ReadonlyMap<string, Uint8Array>;

/** A place whose contents can be taken at once, within a call that changes them. */
export interface SeenPlace extends Place {
  contents(): Contents;
}

/** A new folder, in memory where the system has such: runs take half the time there. */
export function newFolder(): string {
  return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "zarrflow-crash-"));
}

/** Milliseconds after which a bucket carries out what was given up under way. */
const LATE = 50;

let made = 0;

/** A folder or a zip file; `folder` holds nothing else but a copy of what it is reset to. */
export function filePlace(folder: string, name: string): SeenPlace {
  const path = join(folder, "place", name);
  const isZip = name.endsWith(".zip");
  const masters = new Map<MemoryStore, Contents>();
  return {
    targetAt: (below) => (below === "" ? path : join(path, below)),
    async reset(contents) {
      await rm(dirname(path), { recursive: true, force: true });
      await mkdir(dirname(path), { recursive: true });
      if (contents === undefined) return;
      const master =
        masters.get(contents) ?? (await writtenOnce(contents, join(folder, `master-${made++}-${name}`)));
      masters.set(contents, master);
      for (const [key, value] of master) {
        await mkdir(dirname(join(path, key)), { recursive: true });
        await writeFile(join(path, key), value);
      }
    },
    during: (cut, run) => cutting.during(cut, run),
    async outlastTurns() {
      if (!isZip) await rm(join(path, CONSOLIDATED_LOCK_NAME), { force: true });
    },
    async open() {
      if (!existsSync(path)) return undefined;
      return isZip ? ((await openStore({ kind: "zip", path })) as ListableStore) : new DirectoryStore(path);
    },
    contents: () => filesOf(path),
    everything: () => filesOf(dirname(path), { withOwn: true }),
  };
}

/** What a store holds, as the files of a directory or a zip. */
async function writtenOnce(contents: MemoryStore, path: string): Promise<Contents> {
  await copy(contents, path);
  return filesOf(path);
}

/** The random part of the names of runs' own files and folders. */
const RANDOM_NAME = /zarrflow-[0-9a-f]{12}(?:-[0-9a-z]+)?/g;

/** The file at a path, or those below it. With those of runs' own folders have keys, too, and words of a run none. */
function filesOf(path: string, { withOwn = false } = {}): Contents {
  const files = new Map<string, Uint8Array>();
  const add = (path: string, key: string) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder === false) files.set(key, withOwn && isWordOfRun(key) ? NOTHING : readFileSync(path));
    if (!isFolder) return;
    if (withOwn) files.set(`${key}/`, NOTHING);
    for (const name of readdirSync(path)) {
      const isSeen = withOwn || (!isOwnName(name) && !isReservedKey(name));
      if (isSeen) add(join(path, name), key === "" ? anyRuns(name) : `${key}/${anyRuns(name)}`);
    }
  };
  add(path, "");
  return files;
}

const NOTHING = new Uint8Array();

function anyRuns(name: string): string {
  return name.replaceAll(RANDOM_NAME, "zarrflow-");
}

/** Whether a file tells whose something is. */
function isWordOfRun(key: string): boolean {
  return isReservedKey(key) || key.endsWith(`/${OWNER_NAME}`);
}

/** A prefix of the bucket of a server in this process. */
export function bucketPlace(server: S3Server): SeenPlace {
  const prefix = "place/h.zarr";
  const store = new S3Store({
    bucket: BUCKET,
    prefix,
    endpoint: server.endpoint,
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
  });
  return {
    targetAt: (path) => `s3://${BUCKET}/${prefix}${path === "" ? "" : `/${path}`}`,
    async reset(contents) {
      server.objects.clear();
      server.uploads.clear();
      if (contents === undefined) return;
      for await (const { key } of contents.list("")) {
        server.objects.set(`${prefix}/${key}`, Buffer.from((await contents.get(key)) ?? []));
      }
    },
    async during(cut, run) {
      server.fault = async (response, { method, query }) => {
        const isMutating =
          method === "PUT" || method === "DELETE" || (method === "POST" && !query.has("list"));
        const isGivenUp = cut.signal.aborted;
        const isCut = isMutating ? cut.mutate() : cut.isOver;
        // what is given up under way is carried out all the same, later
        if (cut.signal.aborted && !isGivenUp) await sleep(LATE);
        // 403 is not asked again
        if (isCut) response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
        return isCut;
      };
      try {
        return await run();
      } finally {
        server.fault = undefined;
      }
    },
    async outlastTurns() {
      server.objects.delete(`${prefix}/${CONSOLIDATED_LOCK_NAME}`);
    },
    async open() {
      return server.objects.size > 0 ? store : undefined;
    },
    contents: () =>
      new Map(
        [...server.objects]
          .map(([key, value]): [string, Uint8Array] => [key.slice(prefix.length + 1), value])
          .filter(([key]) => !key.split("/").some(isOwnName) && !isReservedKey(key)),
      ),
    everything: () =>
      new Map([
        ...[...server.objects].map(
          ([key, value]) => [anyRuns(key), isWordOfRun(key) ? NOTHING : value] as const,
        ),
        ...[...server.uploads].map((_, n) => [`upload ${n}`, NOTHING] as const),
      ]),
  };
}

/** A store of the caller's. */
export function objectPlace(): Place {
  let kept = new MemoryStore("place");
  const cut = new CurrentCut();
  const refuse = () => {
    throw new ZarrflowError("access-denied", "the call was cut");
  };
  const target = new Proxy({} as WritableStore & ListableStore, {
    has: (_, property) => property in kept,
    get(_, property) {
      const value = Reflect.get(kept, property);
      if (typeof value !== "function") return value;
      const isMutating = ["set", "delete", "rename", "setIfAbsent"].includes(String(property));
      return (...args: unknown[]) => {
        if (isMutating ? cut.now?.mutate() : cut.now?.isOver) refuse();
        return value.apply(kept, args);
      };
    },
  });
  return {
    targetAt: (path) => ({ store: target, path }),
    async reset(contents) {
      kept = new MemoryStore("place");
      if (contents === undefined) return;
      for await (const { key } of contents.list("")) {
        await kept.set(key, (await contents.get(key)) ?? new Uint8Array());
      }
    },
    during: (now, run) => cut.during(now, run),
    outlastTurns: async () => {},
    open: async () => kept,
  };
}
