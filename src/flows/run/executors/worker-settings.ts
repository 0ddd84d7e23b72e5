/** Node's limits of a worker's memory, in megabytes. */
export interface WorkerLimits {
  readonly maxYoungGenerationSizeMb?: number;
  readonly maxOldGenerationSizeMb?: number;
  readonly codeRangeSizeMb?: number;
  readonly stackSizeMb?: number;
}

/** How worker threads are started and watched. */
export interface WorkerSettings {
  /** The script of a worker thread; by default the one that lies beside the library. */
  readonly script?: URL;
  readonly resourceLimits?: WorkerLimits;
  /** Threads that are started, the main one among them; by default as planned, where there is enough to do. */
  readonly threads?: number;
  /** Milliseconds for which no thread may do anything; half an hour by default. */
  readonly patience?: number | undefined;
}
