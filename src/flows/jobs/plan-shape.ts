import { isKey } from "../../stores/key.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { pointerTo } from "../../util/json-value.ts";
import { isObject } from "../../util/options.ts";
import { isStoreSpec, PLAN_FILE_FORMAT } from "./plan-file.ts";

/** Checks the shape of a value from a file. @throws `plan-mismatch` with the JSON pointer of the first mismatch */
export type Shape = (value: unknown, pointer: string) => void;

/** The error for a plan file that this version cannot have written. */
export function notAPlan(reason: string, pointer: string, value?: unknown): ZarrflowError {
  return new ZarrflowError("plan-mismatch", reason, {
    pointer,
    ...(value !== undefined && { value: typeof value === "object" ? JSON.stringify(value) : String(value) }),
    hint: "Make the plan again with `zarrflow plan`; plans are not meant to be edited.",
  });
}

/** A value that passes a test. */
export function value(expected: string, holds: (value: unknown) => boolean): Shape {
  return (found, pointer) => {
    if (!holds(found)) throw notAPlan(`this must be ${expected}`, pointer, found);
  };
}

export const anything: Shape = () => {};
export const flag = value("true or false", (found) => typeof found === "boolean");
export const number = value("a number", (found) => Number.isFinite(found));
export const text = value("a string", (found) => typeof found === "string");

export function oneOf(...choices: readonly unknown[]): Shape {
  return value(`one of ${choices.join(", ")}`, (found) => choices.includes(found));
}

/** A whole number within bounds. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Shape {
  return value(
    `a whole number from ${least} to ${most}`,
    (found) => Number.isSafeInteger(found) && Number(found) >= least && Number(found) <= most,
  );
}

export function list(item: Shape, most = Number.POSITIVE_INFINITY): Shape {
  return (found, pointer) => {
    if (!Array.isArray(found) || found.length > most) throw notAPlan("this must be a list", pointer, found);
    for (const [i, one] of found.entries()) item(one, pointerTo(pointer, i));
  };
}

export function optional(shape: Shape): Shape {
  return (found, pointer) => {
    if (found !== undefined) shape(found, pointer);
  };
}

export function record(members: Readonly<Record<string, Shape>>): Shape {
  return (found, pointer) => {
    if (!isObject(found) || Array.isArray(found)) throw notAPlan("this must be an object", pointer, found);
    for (const [name, shape] of Object.entries(members)) {
      shape(Object.hasOwn(found, name) ? (found as Fields)[name] : undefined, pointerTo(pointer, name));
    }
  };
}

type Fields = { readonly [name: string]: unknown };

const MAX_RANK = 64;
/** Limits of one process on tasks or requests at once, and on threads. No planner exceeds them. */
const MAX_AT_ONCE = 65_536;
const MAX_THREADS = 1024;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

const count = whole(0);
const size = whole(1);
const sizes = list(size, MAX_RANK);
const counts = list(count, MAX_RANK);
const key = value("a key inside its store", (found) => typeof found === "string" && isKey(found));
const path = value(
  "the path of a node inside its store",
  (found) => found === "" || (typeof found === "string" && isKey(found)),
);
const store = value("the spec of a store, with an absolute path or without credentials", (found) =>
  isStoreSpec(found),
);
const format = oneOf("v1", "v2", "v3-draft-2019", "v3-draft-2020", "v3");
const globs = optional(
  value("a glob, or a list of globs", (found) =>
    [found].flat().every((glob) => typeof glob === "string" && glob.length <= 1000),
  ),
);

const node = record({
  store,
  path,
  reading: optional(
    record({
      v1Order: optional(oneOf("as-written", "as-stated")),
      v2: optional(record({ separator: optional(oneOf(".", "/")) })),
      maxMetadata: optional(size),
    }),
  ),
});

const gridSide = record({
  zarrFormat: format,
  chunkKeyEncoding: record({ name: oneOf("default", "plain"), separator: oneOf(".", "/") }),
  shape: counts,
  chunkShape: sizes,
  shardShape: optional(sizes),
  codecs: list(record({ name: text, configuration: record({}), costClass: text })),
  decodesParts: optional(flag),
  decodedSize: count,
  maxEncodedSize: count,
  scratchSize: count,
  pooledScratchSize: count,
});

const tasks = {
  readAhead: whole(1, MAX_AT_ONCE),
  tasks: count,
  leaseBytes: count,
  expectedBytes: count,
};

const kind = record({
  dataType: text,
  dimensionNames: optional(
    list(value("a name or null", (found) => found === null || typeof found === "string")),
  ),
  conversion: optional(
    record({
      dataType: text,
      fillValue: value("Base64 or null", (found) => found === null || typeof found === "string"),
      unpack: optional(flag),
      replaceMissing: optional(flag),
      map: optional(record({ module: text, hash: text })),
      pack: optional(record({ scale: number, offset: number })),
      overflow: optional(oneOf("clamp")),
    }),
  ),
  strategy: oneOf("verbatim", "transcode", "direct", "staged"),
  source: gridSide,
  target: gridSide,
  selection: record({
    start: counts,
    step: sizes,
    shape: counts,
    cycle: optional(counts),
    shift: optional(record({ dimension: count, runs: list(record({ from: count, add: number })) })),
  }),
  window: sizes,
  step: optional(sizes),
  shardBuffer: optional(count),
  passes: optional(list(record({ box: sizes, ...tasks }), 64)),
  ...tasks,
  chunksRead: count,
  chunksWritten: count,
  missingChunks: optional(count),
  notTaken: list(record({ strategy: text, reason: text })),
});

const job: Shape = (found, pointer) => {
  list(anything, 2)(found, pointer);
  const [name, number] = found as readonly unknown[];
  path(name, `${pointer}/0`);
  count(number, `${pointer}/1`);
};

const document: Shape = (found, pointer) => {
  const isText = typeof found === "object" && found !== null && "text" in found;
  record({ key, ...(isText ? { text } : { from: key }) })(found, pointer);
};

const plan = record({
  format: oneOf("zarrflow-plan/1"),
  operation: oneOf("copy", "convert", "rechunk", "slice"),
  source: node,
  target: node,
  scratch: optional(store),
  budget: record({ maxMemory: size, leaseBytes: count }),
  execution: record({
    driver: oneOf("streams", "loop"),
    threads: whole(1, MAX_THREADS),
    singleThreadReason: optional(text),
    tasksAtOnce: whole(1, MAX_AT_ONCE),
    concurrency: whole(1, MAX_AT_ONCE),
    isAdaptive: optional(flag),
    writer: oneOf("each-thread", "first-thread"),
  }),
  kinds: list(kind),
  jobs: list(job),
  stages: list(count, MAX_RANK),
  publication: record({
    zarrFormat: format,
    from: format,
    documents: list(document),
    consolidate: list(path),
    copyKeys: flag,
    filter: optional(record({ include: globs, exclude: globs })),
    leftOut: optional(list(path)),
    existing: value("absent", (found) => found === undefined),
  }),
  totals: record(
    Object.fromEntries(
      [
        "arrays",
        "tasks",
        "chunksRead",
        "chunksWritten",
        "missingChunks",
        "scratchBytes",
        "predictedPeak",
      ].map((name) => [name, value("a number", (found) => typeof found === "number" && found >= 0)]),
    ),
  ),
  warnings: list(record({ message: text, path: optional(text), hint: optional(text) })),
  chunksKept: anything,
});

/** The shape of a valid plan file. */
export const planFileShape = record({
  format: oneOf(PLAN_FILE_FORMAT),
  id: value("a UUID", (found) => typeof found === "string" && UUID.test(found)),
  encoders: record({ zarrflow: text, zlib: text }),
  options: record({ ifExists: oneOf("error", "replace"), writeEmpty: flag, fsync: flag }),
  sourceDocuments: list((found, pointer) => {
    list(anything, 3)(found, pointer);
    const [name, length, crc32] = found as readonly unknown[];
    key(name, `${pointer}/0`);
    count(length, `${pointer}/1`);
    whole(0, 2 ** 32 - 1)(crc32, `${pointer}/2`);
  }),
  plan,
});
