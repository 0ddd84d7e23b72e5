import type { Plan } from "./plan/plan.ts";

/** How far a run is; all counts only grow. */
export interface Progress {
  readonly tasks: number;
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /** Stored bytes read and written. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** What a run did. */
export interface RunReport extends Progress {
  readonly seconds: number;
  /** Keys in the target, documents included. */
  readonly keysWritten: number;
  /** Keys that were read back and compared; absent without `verify`. */
  readonly keysVerified?: number;
  /** The most bytes that all buffers took at one time. */
  readonly peakBuffers: number;
}

/** What a flow tells while it runs. */
export type FlowEvent =
  | { readonly type: "plan"; readonly plan: Plan }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "verify"; readonly keys: number }
  | { readonly type: "done"; readonly report: RunReport };
