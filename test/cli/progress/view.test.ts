import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { drawBar, type ProgressOptions, progressView } from "../../../src/cli/progress/view.ts";
import { drawn } from "../../../src/cli/terminal.ts";

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

describe("progressView", () => {
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

  it("leaves a terminal as it was when nothing was drawn", () => {
    expect(shown(true, 50)).toBe("");
  });

  it("writes a line every five seconds elsewhere, and none for a short run", () => {
    expect(shown(false, 4900)).toBe("");
    expect(shown(false, 10_100)).toMatch(/^10% {2}0 B {2}0 B\/s\n50% {2}1 kB {2}200 B\/s {2}6\.3 s left\n$/);
  });

  it("writes lines to a terminal that cannot draw", () => {
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

const text = "  42%  59 MB in  7.0 MB out  428/3,512 chunks  65 MB/s  6.9 s left";

describe("drawBar", () => {
  it.each([80, 100, 200])("fits into %i columns with its text", (columns) => {
    const line = drawBar(text, 0.42, columns);
    expect(line.length).toBeLessThan(columns);
    expect(line).toContain(text);
  });

  it("keeps its width while the text changes, and fills it", () => {
    expect(drawBar("", 0, 120)).toBe(`[${"-".repeat(30)}] `);
    expect(drawBar("abc", 0.5, 120)).toBe(`[${"#".repeat(15)}${"-".repeat(15)}] abc`);
    expect(drawBar("abcdef", 1, 120)).toBe(`[${"#".repeat(30)}] abcdef`);
  });

  it("is cut, and at last left out, where there is little room", () => {
    expect(drawBar(text, 0.42, 60)).toHaveLength(59);
    expect(drawBar(text, 0.42, 20)).toBe(text.trimStart().slice(0, 19));
  });

  it("is left out when nobody knows how much there is", () => {
    expect(drawBar("3 MB", undefined, 80)).toBe("3 MB");
  });
});
