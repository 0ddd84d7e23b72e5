import { printable } from "../../flows/text/format.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { redact } from "../../util/redact.ts";
import { changesOf, filterOf, planOptions, portOf } from "../option-values.ts";
import { defineCommand, type Options } from "../parse-arguments.ts";
import { RetryLog, warningText } from "../progress/event-progress.ts";
import {
  changingOptions,
  filterOptions,
  outputOptions,
  rateOptions,
  readingOptions,
} from "../shared-options.ts";

const options = {
  port: { type: "string", value: "N", summary: "the port to listen on; any free one by default" },
  host: {
    type: "string",
    value: "ADDRESS",
    summary:
      "the address to listen on: 127.0.0.1 (default) for this machine only, 0.0.0.0 for all its addresses",
  },
  slice: {
    type: "string",
    value: "RANGES",
    summary: "serve only a part: time=0:24,lat=10:20:2; labels: time=2019-03-01:2019-03-08,lat=45..50",
  },
  nearest: {
    type: "boolean",
    effect: { with: ["slice"] },
    summary: "if no item has exactly this label, take the nearest one",
  },
  ...changingOptions,
  ...filterOptions,
  "write-empty-chunks": { type: "boolean", summary: "also serve chunks that hold only the fill value" },
  ...readingOptions,
  ...rateOptions,
  ...outputOptions,
  json: { type: "boolean", summary: "print the URL as JSON; errors as JSON on standard error" },
} as const satisfies Options;

export const command = defineCommand({
  usage: "SRC",
  notes: [
    "Serves an array or a group over HTTP, read-only, until you press Ctrl-C; prints the URL. Chunks are rechunked,",
    "recoded, converted or sliced on request, within --max-mem; unchanged ones are passed through. The metadata is",
    "what `copy` with the same flags would write; a group without consolidated metadata gets it, since readers",
    "cannot list keys over HTTP.",
    "There is no password: everyone who can reach the address, and every web page in a browser on this machine, can",
    "read.",
    "Do not change the source while it is served. Failures are printed, one per line.",
  ],
  operands: [1, 1],
  options,
  examples: [
    { line: "serve era5.zarr", says: "unchanged, on any free port" },
    {
      line: "serve era5.zarr --chunks time=-1,latitude=11,longitude=7 --to v3 --port 8080",
      says: "as time series in Zarr v3, at http://127.0.0.1:8080/",
    },
    {
      line: "serve s3://bucket/era5.zarr --anonymous --slice time=2024-06 --port 8080",
      says: "one month of public data",
    },
  ],
  async run([source = ""], values, terminal) {
    const { quiet = false, json = false, slice, nearest = false } = values;
    const { "write-empty-chunks": writeEmptyChunks = false } = values;
    const port = portOf(values.port);
    const stop = terminal.interrupts.stopFirst();
    const { toFetchHandler } = await import("../../flows/fetch-handler.ts");
    const { serveUntil } = await import("../server/serve-requests.ts");
    const retries = new RetryLog(quiet ? () => {} : terminal.printLine);
    const changes = {
      ...changesOf(values),
      ...(slice !== undefined && { slice, nearest }),
      ...filterOf(values),
      mustChange: false,
    };
    const handler = toFetchHandler(source, changes, {
      ...planOptions(values, stop),
      writeEmptyChunks,
      onEvent: (event) => {
        if (event.type === "retry") retries.note(event.retry);
        if (event.type === "warning" && !values["no-warnings"]) terminal.printLine(warningText(event));
      },
      onFailure: (error, { method, url }) =>
        terminal.printLine(`${method} ${printable(new URL(url).pathname)}: ${failureWords(error)}`),
    });
    try {
      await handler.open();
      await serveUntil(stop, handler, { host: values.host, port }, async (url) => {
        await terminal.write(json ? `${JSON.stringify({ url })}\n` : `${url}\n`);
        if (!quiet) terminal.printLine(`serving ${source}; press Ctrl-C to stop`);
      });
    } finally {
      await handler.close();
    }
  },
});

/** A failure as one line without credentials. */
function failureWords(error: unknown): string {
  if (isZarrflowError(error)) return printable(`${error.code}: ${error.message}`);
  return printable(redact(error instanceof Error ? error.message : String(error)));
}
