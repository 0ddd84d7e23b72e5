import { type JobTemplate, templateOf } from "../../plan/array-jobs.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunIdentity } from "../../run/ledger.ts";
import { runIdentity } from "../../run/run-identity.ts";
import { isKey } from "../../stores/key.ts";
import { BUCKET } from "../../stores/s3/s3-failure.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { distinct } from "../../util/distinct.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { textHash } from "../../util/hash.ts";
import { isObject, isRetry } from "../../util/options.ts";
import { packageVersion } from "../../util/package-version.node.ts";
import { builtin } from "../../util/platform.node.ts";
import type { PlannedFlow } from "../request/flow.ts";

export const PLAN_FILE_FORMAT = "zarrflow-plan-file/2";

/** A metadata document of the source when the plan was made: its key, size and CRC-32. */
export type DocumentState = readonly [key: string, size: number, crc32: number];

/** Versions that, besides the plan, determine the compressed bytes. All processes of a run must have the same. */
export interface Encoders {
  readonly zarrflow: string;
  readonly zlib: string;
}

/** A plan for several processes to run, without credentials. */
export interface PlanFile {
  readonly format: typeof PLAN_FILE_FORMAT;
  /** A UUID that identifies the run. */
  readonly id: string;
  readonly encoders: Encoders;
  readonly options: {
    readonly ifExists: "error" | "replace";
    readonly writeEmptyChunks: boolean;
    readonly fsync: boolean;
  };
  readonly sourceDocuments: readonly DocumentState[];
  readonly plan: Plan;
}

/** A plan file as written: similar arrays share one description. */
export interface WrittenPlanFile extends Omit<PlanFile, "plan"> {
  readonly plan: Omit<Plan, "jobs"> & {
    readonly kinds: readonly JobTemplate[];
    /** Paths of the arrays in the source, with the index of each one's description in `kinds`. */
    readonly jobs: readonly (readonly [path: string, kind: number])[];
  };
}

/** A plan file with a checksum, which detects edits. */
export type SealedPlanFile = WrittenPlanFile & { readonly checksum: string };

/** The encoders of this process. */
export function encodersHere(): Encoders {
  return { zarrflow: packageVersion(), zlib: globalThis.process?.versions?.zlib ?? "" };
}

/**
 * Returns a plan that other processes can run: with absolute paths, and without credentials.
 *
 * @throws `unsupported-operation` for a plan that several processes cannot run.
 */
export function planFileOf(
  planned: Pick<PlannedFlow, "plan" | "options" | "documentStates">,
  {
    encoders = encodersHere(),
    fsync = false,
  }: { readonly encoders?: Encoders; readonly fsync?: boolean } = {},
): SealedPlanFile {
  const { plan } = planned;
  const { ifExists = "error", writeEmptyChunks = false } = planned.options;
  assertShareable(plan);
  if (ifExists !== "error" && ifExists !== "replace") throw addsToTarget();
  const placed = <T extends { readonly store: StoreSpec }>(node: T): T => ({
    ...node,
    store: absoluteStore(node.store),
  });
  const kinds = distinct(plan.jobs.map(templateOf));
  const file: WrittenPlanFile = {
    format: PLAN_FILE_FORMAT,
    id: crypto.randomUUID(),
    encoders,
    options: { ifExists, writeEmptyChunks, fsync },
    sourceDocuments: planned.documentStates(),
    plan: {
      ...plan,
      source: placed(plan.source),
      target: placed(plan.target),
      ...(plan.scratch && { scratch: absoluteStore(plan.scratch) }),
      kinds: kinds.all,
      jobs: plan.jobs.map(({ path }, i) => [path, kinds.which[i] ?? 0]),
    },
  };
  return { ...file, checksum: checksumOf(file) };
}

/** Detects edits of a file. It does not prevent them: whoever edits the file can compute another checksum. */
export function checksumOf(file: WrittenPlanFile): string {
  return textHash(JSON.stringify(file));
}

/** The identity of a plan's run, as the run's records state it. */
export function identityOf({ plan, sourceDocuments, options }: PlanFile): RunIdentity {
  return runIdentity(plan, { ...options, sourceDocuments: textHash(JSON.stringify(sourceDocuments)) });
}

function absoluteStore(store: StoreSpec): StoreSpec {
  if (store.kind === "zip-value") return { ...store, store: absoluteStore(store.store) };
  if (!("path" in store) || STORED_ABSOLUTE.test(store.path)) return store;
  return { ...store, path: builtin("node:path")?.resolve(store.path) ?? store.path };
}

function assertShareable({ source, target, scratch, stages, publication, jobs }: Plan): void {
  const refuse = (reason: string, hint: string) =>
    new ZarrflowError("unsupported-operation", reason, { hint });
  if (target.store.kind !== "directory" && target.store.kind !== "s3") {
    throw refuse(
      "several processes cannot write to this target together",
      "Use a folder that all machines can reach, or a prefix of a bucket; you can copy it into a zip afterwards.",
    );
  }
  if (source.store.kind === "memory" || source.store.kind === "object") {
    throw refuse("other processes cannot open this source", "Use a path or a URL.");
  }
  if (publication.existing !== undefined) throw addsToTarget();
  if (jobs.some(({ conversion }) => conversion?.map && "function" in conversion.map)) {
    throw refuse(
      "other processes cannot call a `map` that is a function",
      'Pass it as a module, such as new URL("./celsius.js", import.meta.url).',
    );
  }
  if (stages.length < 2) return;
  if (scratch?.kind !== "directory" && scratch?.kind !== "s3") {
    throw refuse(
      "a staged plan needs a place for scratch objects that all processes can reach",
      "Pass a shared folder or a prefix of a bucket with --scratch, or use --strategy direct.",
    );
  }
}

function addsToTarget(): ZarrflowError {
  return new ZarrflowError("unsupported-operation", "several processes cannot add to an existing target", {
    hint: "Plan without --update and --if-exists skip.",
  });
}

/** Absolute paths on any system. */
export const STORED_ABSOLUTE = /^(?:\/|[A-Za-z]:[/\\]|\\\\)/;

/** True if a value from a file specifies a store that any process can open, without credentials. */
export function isStoreSpec(value: unknown, depth = 0): value is StoreSpec {
  if (!isObject(value)) return false;
  const { kind, path, store, key, url, bucket, prefix, retry, ...flags } = value;
  if (retry !== undefined && !isRetry(retry)) return false;
  if (!Object.values(flags).every((flag) => typeof flag === "boolean")) return false;
  if (kind === "directory" || kind === "zip") return typeof path === "string" && isPlainPath(path);
  if (kind === "zip-value") return depth < 2 && isText(key) && isKey(key) && isStoreSpec(store, depth + 1);
  if (kind === "http") return isText(url) && isPlainUrl(url);
  if (kind !== "s3" || !isText(bucket) || !BUCKET.test(bucket)) return false;
  return prefix === "" || (isText(prefix) && isKey(prefix));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isPlainPath(path: string): boolean {
  return STORED_ABSOLUTE.test(path) && !path.includes("\0") && !path.split(/[/\\]/).includes("..");
}

function isPlainUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && username === "" && password === "";
  } catch {
    return false;
  }
}
