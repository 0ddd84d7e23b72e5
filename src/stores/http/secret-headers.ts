import { ZarrflowError } from "../../util/errors.ts";
import { environment } from "../../util/platform.node.ts";

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Normalizes headers that may contain secrets: names in lower case, values without surrounding white space.
 * Invalid headers are rejected here, because the runtime's own error would show them.
 *
 * @see RFC 9110, 5.5
 * @throws `invalid-option`
 */
export function secretHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const [name, text] of Object.entries(headers)) {
    const value = text.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "");
    if (!NAME.test(name) || !VALUE.test(value)) {
      throw new ZarrflowError(
        "invalid-option",
        "the credentials, or a header, contain characters that are not allowed in a header",
        { hint: "Check them for line breaks." },
      );
    }
    sent[name.toLowerCase()] = value;
  }
  return sent;
}

/**
 * Parses headers from text, one `NAME: VALUE` a line; undefined without any. Values of the same name are
 * joined.
 *
 * @throws `invalid-option`, without showing the text.
 */
export function headersIn(text: string): Record<string, string> | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "" || value === "") {
      throw new ZarrflowError("invalid-option", "this is not a header", {
        expected: "NAME: VALUE",
        hint: "Write --header 'Authorization: Bearer ...'; --header @FILE and ZARRFLOW_HEADERS have such lines.",
      });
    }
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return secretHeaders(headers);
}

/** Returns the headers and the query that the environment sets for web servers. */
export function environmentAccess(): { readonly headers?: Record<string, string>; readonly query?: string } {
  const { ZARRFLOW_HEADERS: text = "", ZARRFLOW_QUERY: query } = environment();
  const headers = headersIn(text);
  return { ...(headers && { headers }), ...(query && { query }) };
}
