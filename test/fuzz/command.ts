import { parseArgs } from "node:util";
import { type Finding, type FuzzReport, fuzz } from "./fuzz.ts";
import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

const USAGE = `Lets every decoder read changed frames, and ends with 1 at the first that does what it must not.

  npm run fuzz                                  all of them, 1,000,000 frames each
  npm run fuzz -- --codec zstd --frames 5000    those of one codec
  npm run fuzz -- --from "kernel lz4"      goes on where an earlier run was cut

  --seed N       another million frames (1)
  --seconds N    no more than so long on each
  --frame N      nothing but the one frame of that number
  --list         the names
`;

/** Where words go: a line each time. */
export interface FuzzOutput {
  print(line: string): void;
}

/** The command: reads `args`, runs what they ask for, and returns the exit code. */
export async function fuzzCommand(
  args: readonly string[],
  output: FuzzOutput = { print: console.log },
  all: readonly Subject[] = subjects(),
): Promise<number> {
  const { values: options } = parseArgs({
    args: [...args],
    options: {
      codec: { type: "string", default: "" },
      from: { type: "string" },
      seed: { type: "string", default: "1" },
      frames: { type: "string", default: "1000000" },
      frame: { type: "string" },
      seconds: { type: "string" },
      list: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  const names = all.map(({ name }) => name).join("\n");
  if (options.help || options.list) {
    output.print(options.help ? USAGE : names);
    return 0;
  }
  const first = options.from === undefined ? 0 : all.findIndex(({ name }) => name === options.from);
  const chosen = first < 0 ? [] : all.slice(first).filter(({ name }) => isOf(name, options.codec));
  if (chosen.length === 0) {
    output.print(`no decoder is called so; there are\n${names}`);
    return 2;
  }
  const { seed, frame, seconds } = options;
  output.print(`seed ${seed}\n${row("decoder", "frames", "accepted", "frames/s", "slowest", "s")}`);
  const total = { frames: 0, seconds: 0 };
  for (const subject of chosen) {
    const report = await fuzz(subject, {
      seed: Number(seed),
      frames: frame === undefined ? Number(options.frames) : 1,
      ...(frame !== undefined && { first: Number(frame) }),
      ...(seconds !== undefined && { seconds: Number(seconds) }),
    });
    output.print(rowOf(subject.name, report));
    total.frames += report.frames;
    total.seconds += report.seconds;
    if (report.finding) {
      output.print(told(subject.name, seed, report.finding));
      return 1;
    }
  }
  output.print(`${total.frames} frames in ${total.seconds.toFixed(0)} s, no finding`);
  return 0;
}

/** Whether a decoder is that of `codec`, or one of its variants. */
function isOf(name: string, codec: string): boolean {
  return codec === "" || name === codec || name.startsWith(`${codec} `);
}

function rowOf(name: string, { frames, accepted, seconds, slowest }: FuzzReport): string {
  const rate = (frames / seconds).toFixed(0);
  return row(name, `${frames}`, `${accepted}`, rate, `${slowest.toFixed(0)} ms`, seconds.toFixed(1));
}

function row(name: string, ...cells: readonly string[]): string {
  return `${name.padEnd(24)}${cells.map((cell) => cell.padStart(10)).join("")}`;
}

function told(name: string, seed: string, { reason, number, frame, cause }: Finding): string {
  const lines = [`\n${name}: ${reason}`];
  if (cause instanceof Error) lines.push(cause.stack ?? String(cause));
  if (number !== undefined) {
    lines.push(`frame ${number}, ${frame.length} bytes, base64:`, Buffer.from(frame).toString("base64"));
    lines.push(`again: npm run fuzz -- --codec ${JSON.stringify(name)} --seed ${seed} --frame ${number}`);
  }
  return lines.join("\n");
}
