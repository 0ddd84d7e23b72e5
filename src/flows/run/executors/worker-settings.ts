/** Memory limits of a Node worker, in megabytes. */
export interface WorkerLimits {
  readonly maxYoungGenerationSizeMb?: number;
  readonly maxOldGenerationSizeMb?: number;
  readonly codeRangeSizeMb?: number;
  readonly stackSizeMb?: number;
}

/** Settings for starting and watching worker threads. */
export interface WorkerSettings {
  /** Script of a worker thread; by default the one beside the library. */
  readonly script?: URL;
  readonly resourceLimits?: WorkerLimits;
  /** Number of threads, including the main one; by default as planned, if there is enough work. */
  readonly threads?: number;
  /** Maximum number of milliseconds without progress of any thread; half an hour by default. */
  readonly patience?: number | undefined;
}
