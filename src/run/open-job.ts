import { ZarrArray } from "../hierarchy/node.ts";
import { findNode } from "../hierarchy/open/above-on-use.ts";
import { nodeIn } from "../hierarchy/open/in-any-format.ts";
import type { OpenNodeOptions } from "../hierarchy/open/open-node.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import { formatNamed } from "../meta/formats.ts";
import type { ArrayJob, Plan } from "../plan/plan.ts";
import type { Store, StoreOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { convertedArray } from "./values/converted-array.ts";

/** The two arrays of a job; for sharded arrays, views of their inner chunks. */
export interface JobArrays<S extends Store = Store> {
  readonly source: ZarrArray;
  readonly target: ZarrArray<DataTypeName, S>;
}

interface OpenJobOptions<S extends Store> extends StoreOptions {
  readonly plan: Plan;
  readonly source: Store;
  readonly target: S;
  /** Documents of the target by key; they need not be in the store yet. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Documents of the source that were read before; the caller checks that they have not changed. */
  readonly cachedDocument?: ((key: string) => Uint8Array | undefined) | undefined;
}

/** Opens the arrays of a job. @throws `source-changed` if the source array no longer exists. */
export async function openJob<S extends Store>(
  job: ArrayJob,
  { plan, source, target, documents, cachedDocument, signal }: OpenJobOptions<S>,
): Promise<JobArrays<S>> {
  const zarrFormat = formatNamed(plan.publication.zarrFormat);
  const layout = zarrFormat.layout(job.targetPath);
  const parsed = zarrFormat.parse(documents, layout);
  const reading = readingOf(plan, job);
  const known = new Map<string, Uint8Array>();
  for (const key of formatNamed(job.source.zarrFormat).layout(job.path).documentKeys) {
    const bytes = cachedDocument?.(key);
    if (bytes) known.set(key, bytes);
  }
  const found =
    nodeIn(known, source, job.path, { spec: plan.source.store, ...reading }) ??
    (await findNode(source, plan.source.store, job.path, { ...reading, signal }));
  if (found?.kind !== "array" || parsed?.metadata.kind !== "array") {
    throw new ZarrflowError("source-changed", "the array no longer exists", { path: job.path });
  }
  const written = new ZarrArray({
    store: target,
    spec: plan.target.store,
    layout,
    metadata: parsed.metadata,
  });
  const read = job.conversion ? await converted(found, job.conversion) : found;
  return {
    source: job.source.shardShape ? read.innerChunks() : read,
    target: job.target.shardShape ? written.innerChunks(1) : written,
  };
}

async function converted(...asked: Parameters<typeof convertedArray>): Promise<ZarrArray> {
  const { convertedArray } = await import("./values/converted-array.ts");
  return convertedArray(...asked);
}

/** Options that open the source of a job as it was opened for the plan, including everything that was detected then. */
function readingOf({ source }: Plan, job: ArrayJob): Pick<OpenNodeOptions, "zarrFormat" | "v1Order" | "v2"> {
  const { zarrFormat, chunkKeyEncoding } = job.source;
  return { ...source.reading, zarrFormat, v2: { separator: chunkKeyEncoding.separator } };
}
