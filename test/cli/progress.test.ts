import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventAdvance, readProgress } from "../../src/cli/progress/event-progress.ts";
import {
  drawBar,
  Meter,
  type ProgressOptions,
  type ProgressUpdate,
  progressView,
} from "../../src/cli/progress/view.ts";
import { drawn } from "../../src/cli/terminal.ts";
import type { ArrayProgress, Progress } from "../../src/run/events.ts";

describe("the progress of a flow", () => {
  const totals = { arrays: 1, tasks: 4, chunksRead: 10, chunksWritten: 10, bytes: 10_000 };
  const progress = (bytesDone: number, more: Partial<Progress> = {}) => {
    const counts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 3000, bytesWritten: 1000 };
    const done = { arraysDone: 0, bytesDone, arrays: [], bufferedBytes: 7 };
    return { type: "progress", progress: { ...counts, totals, ...done, ...more } } as const;
  };
  const array = (path: string, bytesDone: number, bytes = 100): ArrayProgress => ({ path, bytesDone, bytes });

  it("goes by bytes of items, then by what is read back, passes over the rest, and knows no end without items", () => {
    const advance = eventAdvance();
    expect(advance({ type: "task-start", task: 0 })).toBeUndefined();
    const words = ["3.0 kB in", "1.0 kB out", "2.5 kB of 10 kB"];
    expect(advance(progress(2500))).toEqual({ fraction: 0.25, bytes: 4000, words });
    const back = advance({ type: "verify", keys: 3, allKeys: 1200 });
    expect(back).toEqual({ bytes: 4000, words: ["reading back", "3/1,200 keys"] });
    expect(advance(progress(0, { totals: { ...totals, bytes: 0 } }))?.fraction).toBeUndefined();
  });

  it("counts the arrays of a hierarchy, and has a line for each at work, which keeps its place", () => {
    const advance = eventAdvance();
    const of = (arrays: readonly ArrayProgress[], arraysDone = 0) =>
      advance(progress(0, { totals: { ...totals, arrays: 7 }, arraysDone, arrays }));
    expect(of([array("b", 7), array("a", 50)])).toMatchObject({
      words: ["3.0 kB in", "1.0 kB out", "0/7 arrays"],
      lines: ["    7%  b  7 B of 100 B", "   50%  a  50 B of 100 B"],
    });
    const lines = of([array("a", 60)])?.lines?.map((line) => line.trim());
    expect(lines).toEqual(["7%  b  7 B of 100 B", "60%  a  60 B of 100 B"]);
    const later = of([array("b", 100), array("c", 1), array("d", 1), array("e", 1), array("f", 1)], 1);
    expect(later?.words.at(-1)).toBe("1/7 arrays");
    expect(later?.lines?.map((line) => line.split("  ").at(-2))).toEqual(["c", "d", "e", "f"]);
  });
});

it("the progress of reading shows each array by itself, and the bytes of all, in whatever order they come", () => {
  const shown: ProgressUpdate[] = [];
  const note = readProgress((advance) => shown.push(advance));
  note({ type: "read", path: "t", bytes: 1000, allBytes: 4000 });
  note({ type: "read", path: "u", bytes: 500, allBytes: undefined });
  note({ type: "read", path: "t", bytes: 4000, allBytes: 4000 });
  note({ type: "read", path: "", bytes: 1, allBytes: undefined });
  expect(shown).toEqual([
    { bytes: 1000, words: ["t", "1.0 kB of 4.0 kB"] },
    { bytes: 1500, words: ["u", "500 B"] },
    { bytes: 4500, words: ["t", "4.0 kB of 4.0 kB"] },
    { bytes: 4501, words: ["1 B"] },
  ]);
});

describe("a meter", () => {
  it("takes the rate over the last seconds", () => {
    const meter = new Meter(100);
    expect(meter.rate).toBeUndefined();
    for (let s = 1; s <= 20; s++) meter.note(100 + s, s <= 10 ? 1000 * s : 10_000);
    expect(meter.rate).toBe(0);
    meter.note(121, 10_500);
    expect(meter.rate).toBe(100);
  });

  it("computes what is left from the rate at which bytes of the work are done, once that is no guess", () => {
    const meter = new Meter(0);
    meter.note(1, 0, 0.2);
    expect(meter.left(0.2)).toBeUndefined();
    meter.note(1.5, 0, 0.3);
    expect(meter.left(0.3)).toBeUndefined();
    meter.note(11, 0, 0.4);
    expect(meter.left(0.4)).toBeCloseTo(30);
    expect(meter.left(1)).toBe(0);
  });

  it("leaves out what a resumed run found done, a rate of long ago, and a time in which nothing goes on", () => {
    const [meter, still] = [new Meter(0), new Meter(0)];
    for (let s = 0; s <= 10; s++) meter.note(s, 0, 0.5 + s * 0.01);
    expect(meter.left(0.6)).toBeCloseTo(40);
    for (let s = 11; s <= 100; s++) meter.note(s, 0, 0.6 + (s - 10) * 0.001);
    expect(meter.left(0.69)).toBeCloseTo(310);
    for (let s = 0; s <= 10; s++) still.note(s, 0, 0.5);
    expect(still.left(0.5)).toBeUndefined();
  });
});

class Screen {
  readonly columns = 100;
  readonly isTTY: boolean;
  written = "";

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.written += text;
  }
}

/** What is written during `ms` of a run that is half done. */
function shown(isTTY: boolean, ms: number, options: ProgressOptions = {}): string {
  const screen = new Screen(isTTY);
  const view = progressView(screen, options);
  view.show({ fraction: 0.1, bytes: 0, words: ["0 B"] });
  if (ms >= 10_000) vi.advanceTimersByTime(5000);
  view.show({ fraction: 0.5, bytes: 1000, words: ["1 kB"] });
  vi.advanceTimersByTime(ms >= 10_000 ? ms - 5000 : ms);
  view.stop();
  vi.advanceTimersByTime(60_000);
  return screen.written;
}

describe("the view", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    vi.stubEnv("TERM", "xterm");
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  it("draws a bar on a terminal over and over in one line, and clears it", () => {
    const written = shown(true, 350);
    expect(written.split("\r\u001b[J")).toHaveLength(5);
    expect(written).toContain("50%  1 kB");
    expect(written.endsWith("\r\u001b[J")).toBe(true);
    expect(written).not.toContain("\n");
    expect(shown(true, 50)).toBe("");
  });

  it("draws the lines of arrays below the bar, goes back up to it, and makes room for what others print", () => {
    const screen = new Screen(true);
    const view = progressView(screen);
    view.show({ fraction: 0.5, bytes: 1000, words: ["1 kB"], lines: ["a", "b\u001b[31m"] });
    vi.advanceTimersByTime(110);
    const [bar, ...below] = screen.written.split("\n");
    expect(bar).toContain("-]  50%  1 kB");
    expect(below).toEqual(["a", "b\\u{1b}[31m\r\u001b[2A"]);
    expect(drawn.clear).toBe("\r\u001b[J");
    view.stop();
    expect(screen.written.endsWith("\u001b[2A\r\u001b[J")).toBe(true);
    expect(drawn.clear).toBe("");
  });

  it("writes a line every five seconds elsewhere, and none for a short run", () => {
    expect(shown(false, 4900)).toBe("");
    expect(shown(false, 10_100)).toMatch(/^10% {2}0 B {2}0 B\/s\n50% {2}1 kB {2}200 B\/s {2}6\.3 s left\n$/);
    vi.stubEnv("TERM", "dumb");
    expect(shown(true, 5100)).toMatch(/^50%.*\n$/);
  });

  it("is silent when asked to be", () => {
    expect(shown(true, 60_000, { quiet: true })).toBe("");
    expect(shown(false, 60_000, { quiet: true })).toBe("");
    expect(shown(false, 60_000, { noLines: true })).toBe("");
    expect(shown(true, 1000, { noLines: true })).not.toBe("");
  });
});

describe("a bar", () => {
  const text = "  42%  59 MB in  7.0 MB out  428/3,512 chunks  65 MB/s  6.9 s left";

  it("fits into the columns with its text, is cut, and at last left out, where there is little room", () => {
    for (const columns of [80, 100, 200]) {
      const line = drawBar(text, 0.42, columns);
      expect(line.length).toBeLessThan(columns);
      expect(line).toContain(text);
    }
    expect(drawBar(text, 0.42, 60)).toHaveLength(59);
    expect(drawBar(text, 0.42, 20)).toBe(text.trimStart().slice(0, 19));
    expect(drawBar("3 MB", undefined, 80)).toBe("3 MB");
  });

  it("keeps its width while the text changes, and fills it", () => {
    expect(drawBar("", 0, 120)).toBe(`[${"-".repeat(30)}] `);
    expect(drawBar("abc", 0.5, 120)).toBe(`[${"#".repeat(15)}${"-".repeat(15)}] abc`);
    expect(drawBar("abcdef", 1, 120)).toBe(`[${"#".repeat(30)}] abcdef`);
  });
});
