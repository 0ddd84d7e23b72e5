import { readFileSync } from "node:fs";
import type { StoreAccess } from "../stores/access.ts";
import { fileError } from "../stores/files/file-error.ts";
import { environmentAccess, headersIn } from "../stores/http/headers.ts";
import type { Options, Values } from "./parse-arguments.ts";
import { accessOptions } from "./shared-options.ts";

/** Flags for access to the source of a plan, since a plan contains no credentials. */
export const planAccessOptions = {
  header: accessOptions.header,
  query: {
    type: "string",
    value: "QUERY",
    summary:
      "query of the source's URL, such as token=..., which plans do not contain; @FILE reads it from a file; ZARRFLOW_QUERY by default",
  },
  "trust-map": {
    type: "boolean",
    summary: "allow the plan to load modules that compute values; use only with plans that you trust",
  },
} as const satisfies Options;

/** Converts the flags for access to the source of a plan to options. @throws `invalid-option` */
export function planAccessOf({
  header,
  query,
  "trust-map": trustMap,
}: Values<typeof planAccessOptions>): Pick<StoreAccess, "headers" | "query"> & { trustMap?: boolean } {
  return {
    ...(trustMap && { trustMap }),
    ...headersOf(header),
    ...(query && { query: textOf(query).trim() }),
  };
}

/** The headers from `--header`, or by default from ZARRFLOW_HEADERS. @throws `invalid-option` */
export function headersOf(given: readonly string[] | undefined): Pick<StoreAccess, "headers"> {
  const headers = given ? headersIn(given.map(textOf).join("\n")) : environmentAccess().headers;
  return headers ? { headers } : {};
}

/** The value of a flag, or the text of the file that it names with an `@`. */
function textOf(value: string): string {
  if (!value.startsWith("@")) return value;
  try {
    return readFileSync(value.slice(1), "utf8");
  } catch (error) {
    throw fileError(error, { store: `file ${value.slice(1)}` });
  }
}
