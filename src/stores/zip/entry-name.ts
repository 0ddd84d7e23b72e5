import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { viewOf } from "./directory-reader.ts";

/** Maximum number of folders above an entry: more than file systems allow, and few enough to walk one by one. */
const MAX_DEPTH = 1000;
const UTF8 = 0x800;
const UNICODE_PATH = 0x7075;

export interface ExtraField {
  readonly id: number;
  readonly data: Uint8Array;
}

/** Characters of code page 437 in place of control characters, and from 127 on. */
const CP437 =
  "\u0000☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼" +
  "⌂ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/**
 * Decodes the name of an entry, with `/` between its segments.
 *
 * @throws `path-not-allowed` if it points outside the archive; `resource-limit` if it has too many folders.
 * @see APPNOTE.TXT, 4.6.9 and appendix D
 */
export function entryName(flags: number, raw: Uint8Array, extra: readonly ExtraField[]): string {
  const text = unicodeName(raw, extra) ?? (flags & UTF8 ? utf8(raw) : cp437(raw));
  const name = text.replaceAll("\\", "/");
  const isAbsolute = /^(?:[a-z]:|\/)/i.test(name);
  if (isAbsolute || name.split("/").includes("..")) {
    const fault = isAbsolute ? "absolute path" : "invalid relative path";
    throw new ZarrflowError("path-not-allowed", `a zip entry points outside the archive: ${fault}: ${name}`, {
      key: name,
    });
  }
  if (name.length > 2 * MAX_DEPTH && name.split("/", MAX_DEPTH + 2).length > MAX_DEPTH + 1) {
    throw new ZarrflowError("resource-limit", "the name of a zip entry has too many folders", {
      expected: `at most ${MAX_DEPTH}`,
      value: name,
    });
  }
  return name;
}

/** Returns the UTF-8 name that Info-ZIP adds, if it belongs to this name. */
function unicodeName(raw: Uint8Array, extra: readonly ExtraField[]): string | undefined {
  const isOfName = ({ id, data }: ExtraField) =>
    id === UNICODE_PATH &&
    data.length >= 6 &&
    data[0] === 1 &&
    viewOf(data).getUint32(1, true) === crc32(raw);
  const field = extra.find(isOfName);
  return field && utf8(field.data.subarray(5));
}

function utf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function cp437(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += byte >= 32 && byte < 127 ? String.fromCharCode(byte) : CP437[byte < 32 ? byte : byte - 127 + 32];
  }
  return text;
}
