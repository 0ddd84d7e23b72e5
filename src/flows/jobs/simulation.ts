import type { OptionNames } from "../../util/options.ts";
/** Assumptions of a simulation. */
export interface SimulationOptions {
  /** Processes that run shares at the same time, in each stage. */
  readonly workers: number;
  /** Seconds from a request to its answer. */
  readonly latency: number;
  /** Bytes per second that a worker reads and writes. */
  readonly bytesPerSecond: number;
  /** Processor cores that all workers share. @default as many as their threads keep busy */
  readonly cores?: number | undefined;
  /**
   * Partitions of the bucket, for each of source, target and scratch: each accepts 5,500 GET and 3,500 PUT a second.
   * @default 1
   */
  readonly prefixes?: number | undefined;
  /** The fraction of workers that take three times as long. @default 0.01 */
  readonly stragglers?: number | undefined;
  /** How often per hour a worker is lost. It starts again a minute later. @default 0.01 */
  readonly failuresPerHour?: number | undefined;
  /** Determines which workers are slow, and when workers are lost. @default 1 */
  readonly seed?: number | undefined;
  readonly prices?: Partial<Prices> | undefined;
}

export const SIMULATION_OPTIONS: OptionNames<SimulationOptions> = {
  workers: true,
  latency: true,
  bytesPerSecond: true,
  cores: true,
  prefixes: true,
  stragglers: true,
  failuresPerHour: true,
  seed: true,
  prices: true,
};

/** Prices in US dollars. */
export interface Prices {
  /** Per 1,000 requests that read. */
  readonly gets: number;
  /** Per 1,000 requests that write or list. */
  readonly puts: number;
  readonly gigabyteMonth: number;
  /** Per hour of a worker. */
  readonly workerHour: number;
}

/**
 * S3 Standard in us-east-1 (first 50 TB), from public price tables of March 2026, and an assumed 0.05 for a worker with
 * one core. Look up your own.
 */
export const PRICES: Prices = { gets: 0.0004, puts: 0.005, gigabyteMonth: 0.023, workerHour: 0.05 };

/** A simulated stage. */
export interface SimulatedStage {
  readonly tasks: number;
  readonly seconds: number;
  /** Seconds of the average worker, and of the last one. */
  readonly meanSeconds: number;
  readonly longestSeconds: number;
  /** Seconds in which requests exceeded the rate that the prefixes accept. */
  readonly throttledSeconds: number;
}

/** The simulated run of a plan on a number of workers. */
export interface Simulation {
  readonly workers: number;
  /** Seconds from the first start to the published target. */
  readonly seconds: number;
  /** Seconds of these that `zarrflow finish` takes. */
  readonly finishSeconds: number;
  readonly stages: readonly SimulatedStage[];
  /** Time of the last worker divided by that of the average one, in the worst stage. */
  readonly skew: number;
  /** Seconds of all workers together. */
  readonly workerSeconds: number;
  readonly requests: {
    readonly gets: number;
    readonly puts: number;
    readonly lists: number;
    /** Requests that were answered with 503, and retried. */
    readonly rejected: number;
  };
  /** Number of lost workers, and of tasks that were repeated because of that. */
  readonly failures: number;
  readonly tasksRepeated: number;
  readonly scratchBytes: number;
  /** Cost in US dollars. */
  readonly cost: {
    readonly requests: number;
    readonly workers: number;
    readonly scratch: number;
    readonly total: number;
  };
}
