import { readFileSync } from "node:fs";
import type { StoreAccess } from "../stores/access.ts";
import { fileError } from "../stores/files/file-error.ts";
import { secretHeaders } from "../stores/http/secret-headers.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Options, Values } from "./parse-arguments.ts";
import { accessOptions } from "./shared-options.ts";

/** Flags whose values are credentials: no command that is shown holds them. */
const SECRET_FLAGS = ["--header", "--query"];

/** Flags of commands that read the source of a plan, which holds no credentials. */
export const planAccessOptions = {
  header: accessOptions.header,
  query: {
    type: "string",
    value: "QUERY|@FILE",
    summary:
      "the query of the source's URL, such as token=..., which is not part of the plan; @FILE takes it from a file; by default that in ZARRFLOW_QUERY",
  },
} as const satisfies Options;

/** What the flags of access to the source of a plan mean, or the variables in their place. @throws `invalid-option` */
export function planAccessOf({
  header,
  query = process.env.ZARRFLOW_QUERY,
}: Values<typeof planAccessOptions>): Pick<StoreAccess, "headers" | "query"> {
  const text = query?.startsWith("@") ? textIn(query.slice(1)).trim() : query;
  return { ...headersOf(header), ...(text && { query: text }) };
}

/** The headers that `--header` gives, or by default ZARRFLOW_HEADERS, one in each line. @throws `invalid-option` */
export function headersOf(
  given: readonly string[] | undefined = linesOf(process.env.ZARRFLOW_HEADERS ?? ""),
): Pick<StoreAccess, "headers"> {
  const lines = given.flatMap((text) => (text.startsWith("@") ? linesOf(textIn(text.slice(1))) : [text]));
  if (lines.length === 0) return {};
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "" || value === "") {
      throw new ZarrflowError("invalid-option", "a value of --header is not a header", {
        expected: "NAME: VALUE",
        hint: "Write --header 'Authorization: Bearer ...', or --header @FILE with such lines.",
      });
    }
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return { headers: secretHeaders(headers) };
}

/** The words of a command without the values of flags that hold credentials. */
export function withoutSecretFlags(words: readonly string[]): string[] {
  return words.map((word, i) => {
    if (SECRET_FLAGS.includes(words[i - 1] ?? "") && !word.startsWith("@")) return "***";
    const flag = SECRET_FLAGS.find((name) => word.startsWith(`${name}=`) && !word.startsWith(`${name}=@`));
    return flag === undefined ? word : `${flag}=***`;
  });
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fileError(error, { store: `file ${path}` });
  }
}
