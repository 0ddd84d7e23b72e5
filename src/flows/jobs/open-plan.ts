import { readDocument, readDocumentSync } from "../../hierarchy/stored-documents.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { SourceWatch } from "../../run/source-watch.ts";
import { accessedBy, type StoreAccess } from "../../stores/access.ts";
import { environmentAccess } from "../../stores/http/headers.ts";
import type { Store, StoreOptions } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { sourceChanged } from "../../stores/version.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { processSync } from "../../util/blocking-io.ts";
import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { textHash } from "../../util/hash.ts";
import type { PlannedFlow } from "../request/flow.ts";
import { TargetProbe } from "../target/target-probe.ts";
import type { DocumentState, Encoders, PlanFile } from "./plan-file.ts";

/**
 * Opens the source of a plan, and checks by its metadata documents that it has not changed since the plan was made.
 *
 * @param jobs the arrays whose documents are checked; all documents by default
 * @throws `source-changed`; `plan-mismatch` if this process would compress differently; `invalid-option` for a plan
 *   with modules, unless `trustMap` allows them.
 */
export async function openPlan(
  file: PlanFile,
  {
    encoders,
    jobs,
    trustMap = false,
    signal,
    ...access
  }: StoreOptions &
    Pick<StoreAccess, "headers" | "query"> & {
      readonly encoders: Encoders;
      readonly jobs?: readonly ArrayJob[];
      /** Allows the plan to run the modules that it names to compute values. */
      readonly trustMap?: boolean | undefined;
    },
): Promise<PlannedFlow> {
  assertEncoders(file, encoders);
  if (!trustMap) assertNoModules(file.plan);
  const { sourceDocuments } = file;
  const source = {
    ...file.plan.source,
    store: accessedBy(file.plan.source.store, { ...environmentAccess(), ...access }),
  };
  const plan = { ...file.plan, source };
  const wanted = jobs && keysOf(jobs);
  const states = sourceDocuments.filter(([key]) => wanted?.has(key) !== false);
  const store = await openStore(plan.source.store, { signal });
  const probe = new TargetProbe(plan.target.store, { isNew: false, signal });
  const close = async () => {
    await Promise.all([store.close?.(), probe.end()]);
  };
  try {
    const watch = await SourceWatch.begin([], [store], { signal });
    const { concurrency } = plan.execution;
    const maxMetadata = plan.source.reading?.maxMetadata;
    const documents = await documentsOf(store, states, { maxMetadata, concurrency, signal });
    return {
      source: store,
      plan,
      taken: async () => [],
      options: { ifExists: file.options.ifExists, writeEmptyChunks: file.options.writeEmptyChunks },
      planWith: async () => plan,
      pace: { maxMemory: plan.budget.maxMemory, concurrency, threads: plan.execution.threads },
      settings: {},
      probe,
      async assertUnchanged(how = {}) {
        await documentsOf(store, states, { maxMetadata, concurrency, ...how });
        await watch.assertUnchanged({ ...how, concurrency });
      },
      sourceDocuments: () => textHash(JSON.stringify(sourceDocuments)),
      documentStates: () => sourceDocuments,
      sourceDocument: (key) => documents.get(key),
      async close() {
        watch.end();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Rejects modules: a plan can come from anybody, and a module can do anything. @throws `invalid-option` */
function assertNoModules({ jobs }: Plan): void {
  for (const { path, conversion } of jobs) {
    if (!conversion?.map || !("module" in conversion.map)) continue;
    throw new ZarrflowError("invalid-option", "the plan runs a module that computes values", {
      path,
      url: conversion.map.module,
      hint: "Allow it with --trust-map (in code trustMap: true) if you trust the plan.",
    });
  }
}

/** @throws `plan-mismatch` if this process may compress to other bytes than the other processes of a run. */
export function assertEncoders({ encoders: planned }: Pick<PlanFile, "encoders">, here: Encoders): void {
  const name = otherEncoder(planned, here);
  if (name === undefined) return;
  throw new ZarrflowError("plan-mismatch", `the plan was made with another version of ${name}`, {
    expected: planned[name],
    found: here[name],
    hint: "Use the same zarrflow and the same Node on all machines, because others may compress chunks to different bytes; or make a new plan.",
  });
}

/** The first encoder whose versions differ; undefined if all are the same. */
export function otherEncoder(a: Encoders, b: Encoders): keyof Encoders | undefined {
  return (["zarrflow", "zlib"] as const).find((name) => a[name] !== b[name]);
}

function keysOf(jobs: readonly ArrayJob[]): Set<string> {
  return new Set(
    jobs.flatMap(({ path, source }) => formatNamed(source.zarrFormat).layout(path).documentKeys),
  );
}

async function documentsOf(
  store: Store,
  states: readonly DocumentState[],
  {
    maxMetadata,
    concurrency,
    signal,
  }: StoreOptions & { readonly maxMetadata?: number | undefined; readonly concurrency: number },
): Promise<Map<string, Uint8Array>> {
  const documents = new Map<string, Uint8Array>();
  const keepIfSame = ([key, size, checksum]: DocumentState, found: Uint8Array | undefined) => {
    if (found?.length !== size || crc32(found) !== checksum) {
      throw sourceChanged("a metadata document of the source has changed since the plan was made").addContext(
        {
          store: store.description,
          key,
          hint: "Make a new plan.",
        },
      );
    }
    documents.set(key, found);
    return size;
  };
  const readSync = (state: DocumentState) => {
    const found = readDocumentSync(store, state[0], maxMetadata);
    return found && keepIfSame(state, found.document?.bytes);
  };
  const read = async (state: DocumentState, context: StoreOptions) => {
    keepIfSame(state, (await readDocument(store, state[0], { maxMetadata, signal: context.signal }))?.bytes);
  };
  const left = processSync([states], readSync, signal);
  await forEachConcurrent(left, read, { concurrency, signal });
  return documents;
}
