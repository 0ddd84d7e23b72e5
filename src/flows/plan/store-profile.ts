/** What planning assumes of a store over a network. */
export interface StoreProfile {
  /** Seconds from a small request to its answer. */
  readonly latency: number;
  /** Bytes that it sends or takes in a second, for all requests together. */
  readonly bytesPerSecond: number;
  /** Where the latency is from: answers to the first requests, the caller, or neither. */
  readonly basis: "measured" | "stated" | "assumed";
}

/** The stores of a plan that are over a network; the others are near. */
export interface StoreProfiles {
  readonly source?: StoreProfile;
  readonly target?: StoreProfile;
  readonly scratch?: StoreProfile;
}

/** Memory, threads and requests that a run may use. They decide how tasks are cut, not what is written. */
export interface PlanPace {
  readonly maxMemory: number;
  /** Requests in flight for each store. */
  readonly concurrency: number;
  /** True if `concurrency` is only an upper limit, and the run finds the number itself. */
  readonly isAdaptive?: boolean | undefined;
  /** Threads that run tasks; 1 by default. */
  readonly threads?: number;
  /** Why it must be one thread, where others cannot run tasks. */
  readonly singleThreadReason?: string | undefined;
  /** Whether threads share memory; they do by default. */
  readonly isMemoryShared?: boolean | undefined;
}

/** The stores that a plan may have a profile of. */
export const SIDES = ["source", "target", "scratch"] as const;

/** Whether plans assume the same, whatever that is from. */
export function isSameProfiles(a: StoreProfiles = {}, b: StoreProfiles = {}): boolean {
  return SIDES.every(
    (side) => a[side]?.latency === b[side]?.latency && a[side]?.bytesPerSecond === b[side]?.bytesPerSecond,
  );
}

/** A store of which nothing is known, as far away as one in another region. */
export const ASSUMED_PROFILE: StoreProfile = { latency: 40e-3, bytesPerSecond: 100e6, basis: "assumed" };
