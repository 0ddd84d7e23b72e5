import { setImmediate } from "node:timers/promises";
import { isZarrflowError } from "../../src/util/errors.ts";
import { Arena } from "./arena.ts";
import { FrameMutator } from "./frame-mutator.ts";
import { heldMemory, peakMemory } from "./memory.ts";
import { hashOf, Random } from "./random.ts";
import type { Seed, Subject } from "./subject.ts";
import { finishesWithin } from "./watchdog.ts";

export interface FuzzOptions {
  readonly seed: number;
  /** Frames to decode. */
  readonly frames: number;
  /** The number of the first one. */
  readonly first?: number;
  /** Ends earlier, after so many seconds. */
  readonly seconds?: number;
  /** The most ms that one frame may take. */
  readonly frameTime?: number;
  /** Interrupted when a batch takes this long in ms: something loops. */
  readonly batchTime?: number;
}

export interface FuzzReport {
  readonly frames: number;
  /** Changed frames that decoded all the same. */
  readonly accepted: number;
  readonly seconds: number;
  /** The longest that a frame took, in ms. */
  readonly slowest: number;
  /** What stopped it. */
  readonly finding: Finding | undefined;
}

/** Something that a decoder must not do. */
export interface Finding {
  readonly reason: string;
  /** Number of the frame; undefined where it is about all of them. */
  readonly number: number | undefined;
  readonly frame: Uint8Array;
  readonly cause?: unknown;
}

/** What one decoding came to: bytes written, or what was thrown. */
type Outcome = { readonly written: number } | { readonly error: unknown };

const BATCH = 500;
const FRAME_TIME = 1000;
const BATCH_TIME = 20_000;
const MAX_GROWTH = 32 * 1024 * 1024;
const MAX_PEAK_GROWTH = 512 * 1024 * 1024;
const POISONS = [0xa5, 0x3c] as const;

/** Lets the decoder of `subject` read changed frames, one after the other, until one makes it do what it must not. */
export async function fuzz(subject: Subject, options: FuzzOptions): Promise<FuzzReport> {
  const seeds = await subject.seeds();
  const run = new FuzzRun(subject, seeds, options);
  await run.readSeeds();
  const held = await heldMemory();
  const peak = peakMemory();
  const start = performance.now();
  const finding = (await run.readFrames()) ?? memoryFinding((await heldMemory()) - held, peakMemory() - peak);
  const seconds = (performance.now() - start) / 1000;
  const { frames, accepted, slowest } = run;
  return { frames, accepted, seconds, slowest, finding };
}

function memoryFinding(growth: number, peakGrowth: number): Finding | undefined {
  const told = { number: undefined, frame: new Uint8Array(0) };
  if (growth > MAX_GROWTH) return { ...told, reason: `${growth} bytes more are held after all frames` };
  if (peakGrowth <= MAX_PEAK_GROWTH) return undefined;
  return { ...told, reason: `resident memory grew by ${peakGrowth} bytes` };
}

/** A finding on its way up. */
class Found extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
  }
}

class FuzzRun {
  readonly #subject: Subject;
  readonly #seeds: readonly Seed[];
  readonly #wholeFrames: readonly Uint8Array[];
  readonly #options: FuzzOptions;
  readonly #base: number;
  readonly #random = new Random(0);
  readonly #mutator: FrameMutator;
  readonly #sources: readonly Arena[];
  readonly #targets: readonly Arena[];
  readonly #frameTime: number;
  #number: number;
  #frame: Uint8Array = new Uint8Array(0);
  accepted = 0;
  slowest = 0;

  constructor(subject: Subject, seeds: readonly Seed[], options: FuzzOptions) {
    this.#subject = subject;
    this.#seeds = seeds;
    this.#wholeFrames = seeds.map(({ frame }) => frame);
    this.#options = options;
    this.#frameTime = options.frameTime ?? FRAME_TIME;
    this.#number = options.first ?? 0;
    this.#base = hashOf(options.seed, subject.name);
    const maxFrame = 256 + 2 * Math.max(...seeds.map(({ frame }) => frame.length));
    const maxSize = 64 + 2 * Math.max(...seeds.map(({ size }) => size));
    this.#mutator = new FrameMutator(maxFrame, this.#random);
    this.#sources = POISONS.map((poison) => new Arena(maxFrame, poison));
    this.#targets = POISONS.map((poison) => new Arena(maxSize, poison));
  }

  get frames(): number {
    return this.#number - (this.#options.first ?? 0);
  }

  /** @throws when a seed does not decode to what it should: there is nothing to fuzz then. */
  async readSeeds(): Promise<void> {
    for (const [i, seed] of this.#seeds.entries()) {
      this.#frame = seed.frame;
      const outcome = await this.#decode(seed, seed.size, 0);
      if ("error" in outcome) {
        throw new Error(`seed ${i} of ${this.#subject.name} does not decode`, { cause: outcome.error });
      }
      if (outcome.written !== seed.size) {
        throw new Error(
          `seed ${i} of ${this.#subject.name} gives ${outcome.written}, not ${seed.size} bytes`,
        );
      }
    }
  }

  async readFrames(): Promise<Finding | undefined> {
    const { stackTraceLimit } = Error;
    // Most frames end in an error, and most of what that costs is its stack; a frame read alone has it.
    if (this.#options.frames > 1) Error.stackTraceLimit = 0;
    try {
      await this.#readAll();
      return undefined;
    } catch (error) {
      const { message, cause } = error as Error;
      return { reason: message, number: this.#number, frame: this.#frame.slice(), cause: cause ?? error };
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  async #readAll(): Promise<void> {
    const { batchTime = BATCH_TIME, frames, seconds = Number.POSITIVE_INFINITY } = this.#options;
    const end = this.#number + frames;
    const deadline = performance.now() + 1000 * seconds;
    while (this.#number < end && performance.now() < deadline) {
      const batchEnd = Math.min(end, this.#number + BATCH);
      let pending: Promise<void> | undefined;
      const finished = finishesWithin(batchTime, () => {
        while (this.#number < batchEnd && pending === undefined) pending = this.#readFrame();
      });
      if (!finished) throw new Found(`no end after ${batchTime} ms`);
      await pending;
      // What decoders left to a later turn of the event loop is done between batches.
      await setImmediate();
    }
  }

  /** Makes the next frame and reads it; a promise where the decoder gives one. */
  #readFrame(): Promise<void> | undefined {
    const random = this.#random;
    random.restart(this.#base ^ Math.imul(this.#number, 0x9e37_79b1));
    const seed = random.pick(this.#seeds);
    this.#frame = this.#mutator.mutate(seed.frame, this.#wholeFrames);
    if (seed.mend && random.oneIn(2)) seed.mend(this.#frame);
    const size = this.#targetSize(seed.size);
    const start = performance.now();
    const outcome = this.#decode(seed, size, 0);
    if (outcome instanceof Promise) {
      return outcome.then(async (settled) => {
        const elapsed = performance.now() - start;
        const again = this.#judge(settled, elapsed) ? await this.#decode(seed, size, 1) : undefined;
        this.#end(settled, again, elapsed, performance.now() - start - elapsed);
      });
    }
    const elapsed = performance.now() - start;
    const again = this.#judge(outcome, elapsed) ? (this.#decode(seed, size, 1) as Outcome) : undefined;
    this.#end(outcome, again, elapsed, performance.now() - start - elapsed);
    return undefined;
  }

  /** Mostly what the whole frame needs. */
  #targetSize(size: number): number {
    const random = this.#random;
    if (random.oneIn(8)) return random.below(2 * size + 8);
    return random.oneIn(8) ? Math.max(0, size - 1 + random.below(3)) : size;
  }

  /** Decodes the frame between guards; `which` of the two arenas have other bytes around it. */
  #decode(seed: Seed, size: number, which: 0 | 1): Outcome | Promise<Outcome> {
    const source = (this.#sources[which] as Arena).place(this.#frame.length, this.#number);
    source.set(this.#frame);
    const target = (this.#targets[which] as Arena).place(size, this.#number >> 3);
    const ended = (outcome: Outcome) => this.#checkBounds(seed, source, target, outcome, which);
    try {
      const written = seed.decode(source, target);
      if (typeof written === "number") return ended({ written });
      return written.then(
        (later) => ended({ written: later }),
        (error: unknown) => ended({ error }),
      );
    } catch (error) {
      return ended({ error });
    }
  }

  #checkBounds(seed: Seed, source: Uint8Array, target: Uint8Array, outcome: Outcome, which: 0 | 1): Outcome {
    if (!this.#sources[which]?.isIntact()) throw new Found("bytes beside the source were written");
    if (!this.#targets[which]?.isIntact()) throw new Found("bytes beside the target were written");
    if (!seed.ownsSource && Buffer.compare(source, this.#frame) !== 0) {
      throw new Found("the source was changed");
    }
    if ("error" in outcome) return outcome;
    const { written } = outcome;
    if (Number.isInteger(written) && written >= 0 && written <= target.length) return outcome;
    throw new Found(`${written} bytes are said to be in a target of ${target.length}`);
  }

  /** @returns whether to decode once more amid other bytes. @throws where the decoder must not end so. */
  #judge(outcome: Outcome, elapsed: number): boolean {
    if ("written" in outcome) {
      this.accepted++;
      return true;
    }
    const { error } = outcome;
    if (!isZarrflowError(error)) throw new Found(`threw ${String(error)}`, error);
    if (!this.#subject.codes.includes(error.code)) throw new Found(`ended with \`${error.code}\``, error);
    return this.#number % 8 === 0 || elapsed > this.#frameTime;
  }

  /** @param times in ms, of both decodings: a busy machine may have held up one of them. */
  #end(outcome: Outcome, again: Outcome | undefined, ...times: readonly number[]): void {
    const elapsed = again === undefined ? (times[0] ?? 0) : Math.min(...times);
    this.slowest = Math.max(this.slowest, elapsed);
    if (elapsed > this.#frameTime) {
      throw new Found(`took ${Math.round(elapsed)} ms, more than ${this.#frameTime}`);
    }
    if (again !== undefined && !this.#isSame(outcome, again)) {
      throw new Found(
        "decodes to something else amid other bytes",
        "error" in again ? again.error : undefined,
      );
    }
    this.#number++;
  }

  #isSame(one: Outcome, other: Outcome): boolean {
    if ("error" in one || "error" in other) {
      if (!("error" in one && "error" in other)) return false;
      return isZarrflowError(one.error) && isZarrflowError(other.error, one.error.code);
    }
    const [first, second] = this.#targets.map((arena) => Buffer.from(arena.view.subarray(0, one.written)));
    return one.written === other.written && first?.equals(second as Buffer) === true;
  }
}
