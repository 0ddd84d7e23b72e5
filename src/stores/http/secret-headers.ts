import { ZarrflowError } from "../../util/errors.ts";
import { environment } from "../../util/platform.node.ts";

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Headers that may hold secrets, by names in lower case, without white space around their values. The runtime's own
 * error for one that cannot be sent shows it.
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
 * Headers that a text has, one in each line, as `NAME: VALUE`; undefined where it has none. Those of one name are joined.
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

/** The headers that the environment gives for requests to web servers, and the query of their URLs. */
export function environmentAccess(): { readonly headers?: Record<string, string>; readonly query?: string } {
  const { ZARRFLOW_HEADERS: text = "", ZARRFLOW_QUERY: query } = environment();
  const headers = headersIn(text);
  return { ...(headers && { headers }), ...(query && { query }) };
}
