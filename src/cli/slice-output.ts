import type { TakenItems } from "../flows/request/labels/found-labels.ts";
import { nameOf } from "../hierarchy/node.ts";
import { insideOf, type Slice } from "../hierarchy/slice.ts";
import { isFixed } from "../meta/data-type.ts";
import type { FormatSliceOptions } from "../run/slabs/raw.ts";
import { entryOf, formattedPieces, type SliceFormat } from "../tables/slice-format.ts";
import { ZarrflowError } from "../util/errors.ts";
import { uniqueName } from "../util/names.ts";
import { product } from "../util/shape.ts";
import { writeOutputFile } from "./file-output.ts";
import { peakMemory } from "./node-process.ts";
import { bytesProgress, warningText } from "./progress/event-progress.ts";
import { progressView } from "./progress/view.ts";
import type { Terminal } from "./terminal.ts";
import { outputText } from "./text/report.ts";
import { toJson } from "./text/results.ts";

/** Flags of a slice that is written to a file. */
export interface OutputValues {
  readonly format: SliceFormat;
  readonly output?: string | undefined;
  readonly decode?: "on" | "off" | undefined;
  readonly flags?: boolean | undefined;
  readonly flat?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly "no-warnings"?: boolean | undefined;
  readonly "if-exists"?: "error" | "skip" | "replace" | undefined;
}

/** Writes slices to a file or to standard output. */
export async function writeSlices(
  slices: readonly Slice[],
  values: OutputValues,
  terminal: Terminal,
): Promise<void> {
  const { format, output, json, quiet, "if-exists": ifExists = "error" } = values;
  const { isText } = entryOf(format);
  const { signal, isOutputSeen } = terminal;
  const toScreen = output === undefined && isOutputSeen;
  if (toScreen && !isText) {
    throw new ZarrflowError(
      "invalid-option",
      `${format} output is binary and cannot be shown in a terminal`,
      {
        hint: "Use --output FILE, pipe it to another program, or use --format json.",
      },
    );
  }
  const how = formatOptionsOf(values);
  const shape = (await slices[0]?.shape()) ?? [];
  if (shape.includes(0) && !values["no-warnings"]) {
    const message = `the slice has no items: its shape is (${shape.join(", ")})`;
    terminal.printLine(warningText({ message }));
  }
  const total = how.decode ? undefined : await itemBytes(slices[0], format);
  const view = progressView(terminal.errors, { quiet: quiet || toScreen, noLines: json });
  const started = performance.now();
  let bytes = 0;
  const pieces = counted(formattedPieces(slices, format, how), (length) => {
    bytes += length;
    view.show(bytesProgress(bytes, total));
  });
  try {
    if (output === undefined) {
      for await (const piece of pieces) await terminal.write(piece);
      return;
    }
    const isWritten = await writeOutputFile(output, pieces, { ifExists, signal });
    if (!isWritten) return printSkipped(output, values, terminal);
  } finally {
    view.stop();
  }
  const seconds = (performance.now() - started) / 1000;
  if (quiet && !json) return;
  const { arrays, taken } = await summaryOf(slices);
  const [only] = arrays.length === 1 ? arrays : [];
  const written = only ? { shape: only.shape } : { arrays };
  const report = { output, format, ...written, bytes, seconds, peakMemory: peakMemory(), taken };
  if (json) await terminal.write(`${toJson(report, 2)}\n`);
  else terminal.printLine(outputText(report));
}

/**
 * The arrays of slices, with the shape of each slice, and the items taken along each dimension, each dimension once.
 */
async function summaryOf(slices: readonly Slice[]) {
  const arrays: { readonly name: string; readonly shape: readonly number[] }[] = [];
  const names = new Set<string>();
  const all = new Map<string, TakenItems>();
  for (const slice of slices) {
    const { array, shape, taken } = await insideOf(slice).summary();
    const name = uniqueName(nameOf(array), names);
    names.add(name);
    arrays.push({ name, shape });
    for (const items of taken) all.set(items.dimension, items);
  }
  return { arrays, taken: [...all.values()] };
}

async function printSkipped(
  output: string,
  { json, quiet }: OutputValues,
  terminal: Terminal,
): Promise<void> {
  if (json) await terminal.write(`${toJson({ output, skipped: true }, 2)}\n`);
  else if (!quiet) terminal.printLine(`${output}: exists and was kept`);
}

/** @throws `invalid-option` for flags that contradict each other or the format */
function formatOptionsOf({ format, decode, flags = false, flat = false }: OutputValues): FormatSliceOptions {
  if (flat && format !== "json") {
    throw new ZarrflowError("invalid-option", `--flat applies only to json, but the format is ${format}`);
  }
  if (flags && decode === "off")
    throw new ZarrflowError("invalid-option", "--flags and --decode=off contradict each other");
  return { flags, flat, ...(decode !== undefined && { decode: decode === "on" }) };
}

/** Bytes of all items if they have a fixed size; undefined if the format or the data type has none. */
async function itemBytes(slice: Slice | undefined, format: SliceFormat): Promise<number | undefined> {
  if (slice === undefined || (format !== "raw" && format !== "npy")) return undefined;
  const dataType = await slice.dataType();
  if (!isFixed(dataType)) return undefined;
  return product(await slice.shape()) * dataType.size;
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  onPiece: (length: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece;
    onPiece(piece.length);
  }
}
