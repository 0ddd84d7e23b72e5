import type { OptionNames } from "../../util/check-options.ts";
/** What is assumed where a plan is simulated. */
export interface SimulationOptions {
  /** Processes that run shares at one time, in each stage. */
  readonly workers: number;
  /** Seconds from a request to its answer. */
  readonly latency: number;
  /** Bytes that a worker reads and writes in a second. */
  readonly bytesPerSecond: number;
  /** Processor cores that all workers share. @default as many as their threads keep busy */
  readonly cores?: number | undefined;
  /** Partitions of the bucket for each of source, target and scratch: each takes 5,500 GET and 3,500 PUT a second. @default 1 */
  readonly prefixes?: number | undefined;
  /** The part of the workers that take three times as long. @default 0.01 */
  readonly stragglers?: number | undefined;
  /** How often a worker is lost in an hour, and starts again a minute later. @default 0.01 */
  readonly failuresPerHour?: number | undefined;
  /** Decides which workers are slow, and when they are lost. @default 1 */
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

/** In US dollars. */
export interface Prices {
  /** Of 1,000 requests that read. */
  readonly gets: number;
  /** Of 1,000 requests that write or list. */
  readonly puts: number;
  readonly gigabyteMonth: number;
  /** Of a worker. */
  readonly workerHour: number;
}

/**
 * S3 Standard in us-east-1 (first 50 TB), as public price tables of March 2026 give it, and an assumed 0.05 for a worker of one
 * core. Look up your own.
 */
export const PRICES: Prices = { gets: 0.0004, puts: 0.005, gigabyteMonth: 0.023, workerHour: 0.05 };

/** A stage as it ran. */
export interface SimulatedStage {
  readonly tasks: number;
  readonly seconds: number;
  /** What workers took on average, and the last of them. */
  readonly meanSeconds: number;
  readonly longestSeconds: number;
  /** How long requests came faster than the prefixes take them. */
  readonly throttledSeconds: number;
}

/** What a plan takes on so many workers, as simulated. */
export interface Simulation {
  readonly workers: number;
  /** From the first start to the published target. */
  readonly seconds: number;
  /** Of these, what `zarrflow finish` takes. */
  readonly finishSeconds: number;
  readonly stages: readonly SimulatedStage[];
  /** How many times as long as the average worker the last one takes, in the worst stage. */
  readonly skew: number;
  /** Seconds of all workers together. */
  readonly workerSeconds: number;
  readonly requests: {
    readonly gets: number;
    readonly puts: number;
    readonly lists: number;
    /** Answered with 503, and made again. */
    readonly rejected: number;
  };
  /** Workers that were lost, and tasks that were done again for that. */
  readonly failures: number;
  readonly tasksRepeated: number;
  readonly scratchBytes: number;
  /** In US dollars. */
  readonly cost: {
    readonly requests: number;
    readonly workers: number;
    readonly scratch: number;
    readonly total: number;
  };
}
