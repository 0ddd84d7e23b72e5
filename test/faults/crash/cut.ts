import { ZarrflowError } from "../../../src/util/errors.ts";

/**
 * How a run is cut at its n-th mutating call: `kill` carries out nothing from that call on, as if the process were gone;
 * `fail` fails that call alone; `abort` aborts the run's signal as it begins.
 */
export type CutKind = "kill" | "fail" | "abort";

/** Counts the mutating calls of a run, and cuts it at one of them. */
export class Cut {
  calls = 0;
  readonly #kind: CutKind | undefined;
  readonly #at: number;
  readonly #onCall: () => void;
  readonly #stop = new AbortController();

  /** Without a kind it only counts. `onCall` is called before each call: what is there then is what a kill leaves. */
  constructor(kind?: CutKind, at = 0, onCall = () => {}) {
    this.#kind = kind;
    this.#at = at;
    this.#onCall = onCall;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the run is gone. */
  get isOver(): boolean {
    return this.#kind === "kill" && this.calls > this.#at;
  }

  /** Notes a mutating call that is about to be made; whether it must not be. */
  mutate(): boolean {
    const call = this.calls++;
    this.#onCall();
    if (this.#kind === "abort" && call === this.#at) this.#stop.abort(new ZarrflowError("aborted", "enough"));
    return this.isOver || (this.#kind === "fail" && call === this.#at);
  }
}

/** The cut of a place, which its calls meet while a run is under way. */
export class CurrentCut {
  now: Cut | undefined;

  async during<T>(cut: Cut, run: () => Promise<T>): Promise<T> {
    this.now = cut;
    try {
      return await run();
    } finally {
      this.now = undefined;
    }
  }
}
