import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { RunReport } from "../events.ts";
import type { Plan } from "../plan/plan.ts";
import type { Verification } from "../request/flow-options.ts";
import type { RunLog } from "./run-log.ts";
import { type VerifyLedgerOptions, verifyLedger } from "./verify-ledger.ts";
import type { VerifyValuesOptions } from "./verify-values.ts";

/** Counts of keys and arrays that were read back and verified. */
export type Verified = Pick<RunReport, "keysVerified" | "arraysVerified">;

export interface VerifyTargetOptions
  extends Pick<VerifyLedgerOptions, "budget" | "signal">,
    Pick<VerifyValuesOptions, "source" | "target" | "documents"> {
  readonly verify: Verification;
  readonly buffers: BufferPool;
  readonly log: RunLog;
  /** Counts from an earlier verification; more keys may have been written since. */
  readonly before?: Verified | undefined;
}

/**
 * Reads back the output of a run, to the extent that `verify` requests.
 *
 * @throws as `verifyLedger` and `verifyValues`.
 */
export async function verifyTarget(
  plan: Plan,
  { verify, log, before = {}, budget, buffers, signal, ...stores }: VerifyTargetOptions,
): Promise<Verified> {
  if (verify === false) return before;
  const { concurrency } = plan.execution;
  const onKeys = (keys: number) => log.keysVerified(keys);
  const done = before.keysVerified ?? 0;
  const keysVerified = await verifyLedger(stores.target, log.ledger, {
    budget,
    buffers,
    concurrency,
    signal,
    onKeys,
    done,
  });
  if (verify !== "values" || before.arraysVerified !== undefined) return { ...before, keysVerified };
  buffers.clear();
  const onEvent = log.emit.bind(log);
  const { verifyValues } = await import("./verify-values.ts");
  const arraysVerified = await verifyValues(plan, { ...stores, maxMemory: budget.limit, onEvent, signal });
  return { keysVerified, arraysVerified };
}
