import { printable } from "../text/printable.ts";
import { drawBar } from "./bar.ts";
import { Meter } from "./meter.ts";
import { advanceText, type ProgressUpdate } from "./progress-update.ts";

/** Where progress is shown. */
export interface ProgressView {
  show(advance: ProgressUpdate): void;
  /** Ends it, and takes from the screen what is no record. */
  stop(): void;
}

/** The part of standard error that progress needs. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5000;
const CLEAR_LINE = "\r\u001b[K";

export interface ProgressOptions {
  /** No progress at all. */
  readonly quiet?: boolean | undefined;
  /** No lines where there is no terminal to draw on. */
  readonly noLines?: boolean | undefined;
}

/** A bar on a terminal; elsewhere a line every few seconds, so that short runs have none. */
export function progressView(stream: ProgressStream, { quiet, noLines }: ProgressOptions = {}): ProgressView {
  if (quiet) return { show() {}, stop() {} };
  if (stream.isTTY && process.env.TERM !== "dumb") {
    const { stop, show } = drawing(BAR_INTERVAL_MS, (text, { fraction }) => {
      stream.write(CLEAR_LINE + drawBar(text, fraction, stream.columns ?? 80));
    });
    return { show, stop: () => stop() && stream.write(CLEAR_LINE) };
  }
  if (noLines) return { show() {}, stop() {} };
  return drawing(LINE_INTERVAL_MS, (text) => {
    stream.write(`${text.trimStart()}\n`);
  });
}

/** Draws the latest state at an interval, whether or not it changed: a stall shows, too. */
function drawing(interval: number, draw: (text: string, advance: ProgressUpdate) => void) {
  const meter = new Meter(seconds());
  let latest: ProgressUpdate | undefined;
  let drawn = false;
  const timer = setInterval(() => {
    if (!latest) return;
    const now = seconds();
    meter.note(now, latest.bytes);
    draw(printable(advanceText(latest, meter, now)), latest);
    drawn = true;
  }, interval);
  return {
    show(advance: ProgressUpdate): void {
      latest = advance;
    },
    /** Returns whether anything was drawn. */
    stop(): boolean {
      clearInterval(timer);
      return drawn;
    },
  };
}

function seconds(): number {
  return performance.now() / 1000;
}
