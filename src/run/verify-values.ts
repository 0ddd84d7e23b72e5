import type { Plan } from "../plan/plan.ts";
import type { Store, StoreOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { compareValues } from "./compare-values.ts";
import type { ReadEvent } from "./events.ts";
import { openJob } from "./open-job.ts";

export interface VerifyValuesOptions extends StoreOptions {
  readonly source: Store;
  readonly target: Store;
  /** Documents of the target by key; they need not be in the store yet. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Maximum number of bytes in the buffers of both arrays together. */
  readonly maxMemory: number;
  readonly onEvent: (event: ReadEvent) => void;
}

/**
 * Reads all items of every array of a plan from source and target, and compares them.
 *
 * @returns the number of arrays compared
 * @throws `differs` with the path of the array and its first different item; `budget-too-small`.
 */
export async function verifyValues(
  plan: Plan,
  { maxMemory, onEvent, signal, ...stores }: VerifyValuesOptions,
): Promise<number> {
  const { concurrency } = plan.execution;
  for (const job of plan.jobs) {
    const { source, target } = await openJob(job, { plan, ...stores, signal });
    const { selection, targetPath: path } = job;
    const difference = await compareValues(source, target, {
      selection,
      maxMemory,
      concurrency,
      scratch: plan.scratch,
      path,
      onEvent,
      signal,
    });
    if (difference === undefined) continue;
    const { first, count, a, b } = difference;
    const values = count === 1 ? "1 value read back differs" : `${count} values read back differ`;
    throw new ZarrflowError("differs", `${values} from the source, the first at [${first.join(", ")}]`, {
      path,
      expected: a,
      found: b,
    });
  }
  return plan.jobs.length;
}
