import { formatDuration, printable } from "../../flows/text/format.ts";
import { formatBytes } from "../../util/units.ts";
import { drawn } from "../terminal.ts";

/** A display of progress. */
interface ProgressView {
  show(advance: ProgressUpdate): void;
  /** Ends the display, and erases it from the screen. */
  stop(): void;
}

/** The part of standard error that progress needs. */
interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const BAR_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5000;
/** Erases the cursor's line and all lines below. */
const CLEAR = "\r\u001b[J";

export interface ProgressOptions {
  /** Shows no progress at all. */
  readonly quiet?: boolean | undefined;
  /** Prints no lines if there is no terminal to draw on. */
  readonly noLines?: boolean | undefined;
}

/** Returns a bar if the stream is a terminal; otherwise prints a line every few seconds, so short runs print none. */
export function progressView(stream: ProgressStream, { quiet, noLines }: ProgressOptions = {}): ProgressView {
  if (quiet) return { show() {}, stop() {} };
  if (stream.isTTY && process.env.TERM !== "dumb") {
    const { stop, show } = drawing(BAR_INTERVAL_MS, (text, { fraction, lines = [] }) => {
      const { columns = 80, rows = 24 } = stream;
      const below = lines
        .slice(0, Math.max(0, rows - 2))
        .map((line) => `\n${printable(line).slice(0, columns - 1)}`);
      // The cursor returns to the bar, so that other output replaces it.
      const back = below.length > 0 ? `\r\u001b[${below.length}A` : "";
      stream.write(`${CLEAR}${drawBar(text, fraction, columns)}${below.join("")}${back}`);
      drawn.clear = CLEAR;
    });
    return {
      show,
      stop() {
        if (stop()) stream.write(CLEAR);
        drawn.clear = "";
      },
    };
  }
  if (noLines) return { show() {}, stop() {} };
  return drawing(LINE_INTERVAL_MS, (text) => {
    stream.write(`${text.trimStart()}\n`);
  });
}

/** Draws the latest state at an interval, even if it did not change: a stall shows, too. */
function drawing(interval: number, draw: (text: string, advance: ProgressUpdate) => void) {
  const meter = new Meter(seconds());
  let latest: ProgressUpdate | undefined;
  let isDrawn = false;
  const timer = setInterval(() => {
    if (!latest) return;
    const now = seconds();
    meter.note(now, latest.bytes, latest.fraction);
    draw(printable(advanceText(latest, meter)), latest);
    isDrawn = true;
  }, interval);
  return {
    show(advance: ProgressUpdate): void {
      latest = advance;
    },
    /** Returns true if anything was drawn. */
    stop(): boolean {
      clearInterval(timer);
      return isDrawn;
    },
  };
}

function seconds(): number {
  return performance.now() / 1000;
}

/** Usual length of the text, from which the bar's width is derived: it stays the same while the text changes. */
const TEXT_ROOM = 68;
const WIDEST = 30;
const NARROWEST = 8;

/** A bar and its text in one line of fewer than `columns` characters. */
export function drawBar(text: string, fraction: number | undefined, columns: number): string {
  const room = columns - 1;
  if (fraction === undefined || room < TEXT_ROOM / 2) return text.trimStart().slice(0, room);
  const width = Math.max(NARROWEST, Math.min(WIDEST, room - TEXT_ROOM - 3));
  const full = Math.round(width * fraction);
  return `[${"#".repeat(full)}${"-".repeat(width - full)}] ${text}`.slice(0, room);
}

/** Seconds of measurements for the rate, and for the time left. */
const SPAN = 5;
const LONG_SPAN = 30;
/** Seconds of measurement below which the time left would be a guess. */
const MIN_SPAN = 1;

interface Measured {
  readonly at: number;
  readonly bytes: number;
  readonly fraction: number | undefined;
}

/** Measures the recent rate, and estimates the time left. */
export class Meter {
  #samples: Measured[];

  /** @param now seconds of a monotonic clock */
  constructor(now: number) {
    this.#samples = [{ at: now, bytes: 0, fraction: undefined }];
  }

  /** Records the bytes moved in all, and the fraction of the work, by bytes, that is done. */
  note(now: number, bytes: number, fraction?: number): void {
    this.#samples.push({ at: now, bytes, fraction });
    this.#samples = this.#since(now - LONG_SPAN);
  }

  /** Bytes per second over the last seconds; undefined until enough is measured. */
  get rate(): number | undefined {
    const last = this.#samples.at(-1);
    const first = last && this.#since(last.at - SPAN)[0];
    if (!first || last.at - first.at < 0.1) return undefined;
    return (last.bytes - first.bytes) / (last.at - first.at);
  }

  /** Seconds left when `fraction` of the work is done; undefined while that is a guess, or nothing advances. */
  left(fraction: number): number | undefined {
    const known = this.#samples.filter((sample) => sample.fraction !== undefined);
    const first = known[0];
    const last = known.at(-1);
    if (first?.fraction === undefined || last?.fraction === undefined) return undefined;
    const [seconds, done] = [last.at - first.at, last.fraction - first.fraction];
    return seconds < MIN_SPAN || done < 0.001 ? undefined : (seconds * (1 - fraction)) / done;
  }

  #since(at: number): Measured[] {
    const first = this.#samples.findIndex((sample) => sample.at >= at);
    return this.#samples.slice(Math.max(0, first));
  }
}

export interface ProgressUpdate {
  /** Completed part of the work, 0 to 1; absent if the total is unknown. */
  readonly fraction?: number | undefined;
  /** Bytes moved so far, from which the rate is computed. */
  readonly bytes: number;
  /** The work so far, in words. */
  readonly words: readonly string[];
  /** Lines below the bar, on a terminal that can draw. */
  readonly lines?: readonly string[];
}

/** Formats percentage, words, rate and time left. */
export function advanceText({ fraction, words }: ProgressUpdate, meter: Meter): string {
  const left = fraction === undefined ? undefined : meter.left(fraction);
  const parts = [
    fraction !== undefined && `${Math.floor(100 * fraction)}%`.padStart(4),
    ...words,
    meter.rate !== undefined && `${formatBytes(meter.rate)}/s`,
    left !== undefined && `${formatDuration(left)} left`,
  ];
  return parts.filter((part) => part !== false).join("  ");
}
