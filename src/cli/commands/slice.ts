import {
  formattedPieces,
  isTextFormat,
  SLICE_FORMATS,
  type SliceFormat,
} from "../../flows/slabs/formats/slice-format.ts";
import type { Slice } from "../../flows/slice.ts";
import { isFixed } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { defineCommand } from "../define-command.ts";
import { writeOutputFile } from "../file-output.ts";
import { changesOf, filterOf, planOptions } from "../option-values.ts";
import { assertNamedAsZarr, assertNoRanges, outputFormat } from "../output-names.ts";
import type { Options, Values } from "../parse-arguments.ts";
import { peakMemory } from "../peak-memory.ts";
import { planAndRun } from "../plan-and-run.ts";
import { bytesProgress } from "../progress/read-progress.ts";
import { progressView } from "../progress/view.ts";
import { changingOptions, filterOptions, outputOptions, writingOptions } from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { toJson } from "../text/json.ts";
import { outputText } from "../text/report.ts";
import { printWarnings } from "../text/warning.ts";

const formatNames = SLICE_FORMATS.map(({ name }) => name);

const options = {
  slice: {
    type: "string",
    value: "RANGES",
    summary:
      "time=0:24,lat=10:20:2 or 0:24,10:20:2; stops are exclusive, a single index drops its dimension (with a DST it is kept, with length 1); labels: time=2019-03-01:2019-03-08,lat=45..50; everything by default",
  },
  nearest: {
    type: "boolean",
    summary: "if no item has a single label, take the nearest item",
  },
  format: {
    type: "string",
    value: formatNames.join("|"),
    choices: formatNames,
    summary: `${SLICE_FORMATS.map(({ name, summary }) => `${name}: ${summary}`).join("; ")}; by default the format that the extension of --output names, or ${formatNames[0]}`,
  },
  output: { type: "string", value: "FILE", summary: "write to a file, complete or not at all" },
  ...filterOptions,
  strict: {
    type: "boolean",
    summary:
      "reject a slice if a group below, or an array that comes along, cannot be sliced as the rest, because a dimension has another length there; by default it is taken whole",
  },
  ...changingOptions,
  ...writingOptions,
  ...outputOptions,
  json: { type: "boolean", summary: "the plan or the summary as JSON on standard output; errors as JSON" },
} as const satisfies Options;

type SliceValues = Values<typeof options>;

export const command = defineCommand({
  usage: "SRC [DST]",
  notes: [
    "With a DST the slice is written as Zarr; a dimension with a single index is kept, with length 1.",
    "A slice of one array takes what belongs to it too: the coordinates of its dimensions, and the arrays that its",
    "attributes name. DST is then a group. It is an array if nothing belongs to the array, or with --alone.",
    "--include, --exclude, --alone, --strict, --chunks, --shards, --codec, --to, --verify, --write-empty, --trace",
    "and --report need a DST.",
    "Slicing a group needs a DST and dimension names: every array that has one of them is sliced, and the others",
    "are copied whole.",
    "Labels are looked up in the array of the dimension's name, beside the array or above it: a..b with both ends,",
    "a number with a point (45.0), a text, a date. 2019-03 means the whole month. Integers are indices.",
    "In JSON, NaN and infinities are strings, complex numbers [re, im], bytes Base64, times a count of their unit",
    'or "NaT", structures objects. Text of variable length and objects can be written as JSON only.',
  ],
  operands: [1, 2],
  options,
  examples: [
    {
      line: "slice era5.zarr/t2m --slice time=0:24,latitude=40:60 --format npy --output day.npy",
      says: "a box as a NumPy file",
    },
    {
      line: "slice era5.zarr/t2m --slice time=2024-06-03,latitude=45..50,longitude=10.0 --format json",
      says: "by labels: all times of a day, the latitudes from 45 to 50, one longitude",
    },
    { line: "slice era5.zarr/t2m --slice 0,-1 --format json", says: "first time, last latitude, as JSON" },
    {
      line: "slice era5.zarr/t2m --slice time=::24 | sha256sum",
      says: "every 24th time, as bytes into a pipe",
    },
    {
      line: "slice era5.zarr/t2m march.zarr.zip --slice time=1416:2160 --chunks time=-1,latitude=11",
      says: "a smaller Zarr with other chunks: a group of t2m and its coordinates",
    },
    {
      line: "slice era5.zarr day.zarr --slice time=0:24",
      says: "a group: all variables and coordinates with the dimension time",
    },
    {
      line: "slice era5.zarr winds.zarr --slice time=0:24 --include '[uv]10'",
      says: "two variables of a group, and what belongs to them",
    },
  ],
  async run([url = "", target], values, terminal) {
    if (target !== undefined) return sliceToZarr(url, target, values, terminal);
    assertFileOnly(values);
    const format = outputFormat(values.output, values.format);
    const { closeOpened, open } = await import("../../hierarchy/open/open.ts");
    const { parseSlice } = await import("../../hierarchy/slice-option.ts");
    const planning = planOptions(values, terminal.signal);
    const { readableArray } = await import("../../flows/request/chunk-separators.ts");
    const opened = await open(url, planning);
    if (opened.kind === "group") {
      await closeOpened(url, opened.store);
      throw new ZarrflowError("invalid-option", `\`${url}\` is a group`, {
        hint: "Give a DST, or name an array.",
      });
    }
    const reading = { signal: terminal.signal, onEvent: printWarnings(terminal, values) };
    const array = await readableArray(opened, opened, reading);
    const selection = values.slice === undefined ? {} : parseSlice(values.slice);
    const { nearest = false } = values;
    if (values["dry-run"]) {
      const { planSlice } = await import("../../flows/plan-slice.ts");
      const { slicePlanText } = await import("../text/slice-plan.ts");
      const plan = await planSlice(array, selection, { ...planning, nearest });
      return terminal.write(values.json ? `${toJson(plan, 2)}\n` : slicePlanText(plan, url));
    }
    const { slice } = await import("../../flows/slice.ts");
    return writeSlice(slice(array, selection, { ...planning, nearest }), { ...values, format }, terminal);
  },
});

async function sliceToZarr(
  source: string,
  target: string,
  values: SliceValues,
  terminal: Terminal,
): Promise<void> {
  const misplaced = (["format", "output"] as const).find((name) => values[name] !== undefined);
  if (misplaced) {
    throw new ZarrflowError("invalid-option", `--${misplaced} applies only to a slice without a DST`, {
      hint: "Omit the flag, or omit DST.",
    });
  }
  assertNoRanges(target);
  assertNamedAsZarr(target);
  const { planSliceTo } = await import("../../flows/copy.ts");
  const { slice = {}, nearest = false } = values;
  const options = {
    ...planOptions(values, terminal.signal),
    ...changesOf(values),
    ...filterOf(values),
    ...(values.strict && { strict: true }),
    slice,
    nearest,
  };
  return planAndRun((events) => planSliceTo(source, target, { ...options, ...events }), values, terminal);
}

/** @throws `invalid-option` for flags that only a Zarr target has a use for. */
function assertFileOnly(values: SliceValues): void {
  const only = [
    "include",
    "exclude",
    "alone",
    "strict",
    "chunks",
    "shards",
    "match",
    "codec",
    "to",
    "allow-loss",
    "verify",
    "write-empty",
    "trace",
    "report",
  ] as const;
  const misplaced = only.find((name) => values[name] !== undefined);
  if (misplaced === undefined) return;
  throw new ZarrflowError("invalid-option", `--${misplaced} applies only to a slice with a DST`, {
    hint: "Give a DST after the source, such as part.zarr.",
  });
}

async function writeSlice(
  slice: Slice,
  values: SliceValues & { readonly format: SliceFormat },
  terminal: Terminal,
): Promise<void> {
  const { format, output, json, quiet, "if-exists": ifExists = "error" } = values;
  const { signal, isOutputSeen } = terminal;
  const toScreen = output === undefined && isOutputSeen;
  if (toScreen && !isTextFormat(format)) {
    throw new ZarrflowError("invalid-option", `${format} bytes cannot be shown in a terminal`, {
      hint: "Write them to a file with --output FILE or into a pipe, or use --format json.",
    });
  }
  const total = await itemBytes(slice, format);
  const view = progressView(terminal.errors, { quiet: quiet || toScreen, noLines: json });
  const started = performance.now();
  let bytes = 0;
  const pieces = counted(formattedPieces(slice, format), (length) => {
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
  const shape = await slice.shape();
  const report = { output, format, shape, bytes, seconds, peakMemory: peakMemory() };
  if (json) await terminal.write(`${toJson(report, 2)}\n`);
  else if (!quiet) terminal.printLine(outputText(report));
}

async function printSkipped(output: string, { json, quiet }: SliceValues, terminal: Terminal): Promise<void> {
  if (json) await terminal.write(`${toJson({ output, skipped: true }, 2)}\n`);
  else if (!quiet) terminal.printLine(`${output}: exists and is kept`);
}

/** Bytes of all items where each has the same; undefined where the format or the type does not say. */
async function itemBytes(slice: Slice, format: SliceFormat): Promise<number | undefined> {
  const dataType = await slice.dataType();
  if (isTextFormat(format) || !isFixed(dataType)) return undefined;
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
