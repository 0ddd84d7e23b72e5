import type { OptionNames } from "../util/options.ts";
import type { ZarrFormat } from "./array-metadata.ts";
import type { FormatDefinition } from "./format.ts";
import type { FormatOptions } from "./formats.ts";
import { v3 } from "./v3/v3.ts";

/** Like `formatNamed`, but loads formats before v3 only when one of their nodes is read. */
export async function formatOnUse(name: ZarrFormat, options: FormatOptions = {}): Promise<FormatDefinition> {
  if (name === "v3") return v3;
  const { formatNamed } = await import("./formats.ts");
  return formatNamed(name, options);
}

/** Names of the options for reading documents. */
export const FORMAT_OPTIONS: OptionNames<FormatOptions> = { v1Order: true, v2: true, maxMetadata: true };
