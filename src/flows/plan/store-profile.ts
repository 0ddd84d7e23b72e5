/** Expected speed of a store over a network. */
export interface StoreProfile {
  /** Seconds from a small request to its response. */
  readonly latency: number;
  /** Bytes per second in each direction, for all requests together. */
  readonly bytesPerSecond: number;
  /** Source of the latency: responses to the first requests, the caller, or a default. */
  readonly basis: "measured" | "stated" | "assumed";
}

/** Profiles of a plan's stores over a network. Local stores have none. */
export interface StoreProfiles {
  readonly source?: StoreProfile;
  readonly target?: StoreProfile;
  readonly scratch?: StoreProfile;
}

/** Memory, threads and requests that a run may use. They affect how tasks are divided, not the result. */
export interface PlanPace {
  readonly maxMemory: number;
  /** Requests in flight for each store. */
  readonly concurrency: number;
  /** True if `concurrency` is only an upper limit, and the run finds the number itself. */
  readonly isAdaptive?: boolean | undefined;
  /** Threads that run tasks; 1 by default. */
  readonly threads?: number;
  /** The reason for a single thread, if no other thread can run tasks. */
  readonly singleThreadReason?: string | undefined;
  /** True if threads share memory; the default. */
  readonly isMemoryShared?: boolean | undefined;
}

/** The stores that may have a profile in a plan. */
export const SIDES = ["source", "target", "scratch"] as const;

/** True if both profiles have the same figures, whatever their source. */
export function isSameProfiles(a: StoreProfiles = {}, b: StoreProfiles = {}): boolean {
  return SIDES.every(
    (side) => a[side]?.latency === b[side]?.latency && a[side]?.bytesPerSecond === b[side]?.bytesPerSecond,
  );
}

/** Profile of an unmeasured store: as far away as one in another region. */
export const ASSUMED_PROFILE: StoreProfile = { latency: 40e-3, bytesPerSecond: 100e6, basis: "assumed" };
