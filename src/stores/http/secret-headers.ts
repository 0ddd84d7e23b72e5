import { ZarrflowError } from "../../util/errors.ts";

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
