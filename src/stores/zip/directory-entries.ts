import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type DirectoryReader, viewOf } from "./directory-reader.ts";

const COUNTS = 0x1_0000;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const STRONG_ENCRYPTION = 0x40;
const ZIP64_SIZES = 0x0001;
const IN_ZIP64 = 0xffffffff;

/** An entry, as the directory describes it. */
export interface DirectoryEntry {
  readonly name: string;
  /** Length in bytes of its name in the archive. */
  readonly nameLength: number;
  readonly versionMadeBy: number;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly crc32: number;
  readonly packedSize: number;
  readonly size: number;
  readonly attributes: number;
  readonly offset: number;
}

/**
 * Lists the entries of an archive's directory up to its end record, whatever count that states: writers without zip64
 * store the count of many entries modulo 65,536.
 *
 * @param onOtherCount called at the end if the count in the record was truncated to 16 bits
 * @throws `corrupt-store` if the directory does not end where its record says, has another number of entries, or is
 *   broken; `unsupported-operation` for strong encryption, and for archives in several files.
 * @see APPNOTE.TXT, 4.3.12
 */
export async function* directoryEntries(
  archive: DirectoryReader,
  onOtherCount: (stated: number, found: number) => void,
): AsyncGenerator<DirectoryEntry> {
  const end = await archive.end();
  const stated = end.entries;
  let position = end.offset;
  let found = 0;
  const statedEnd = position + end.size;
  const isAtEnd = () => position >= end.at || (position === statedEnd && found === stated);
  while (!isAtEnd()) {
    const known = archive.bytesAt(position, ENTRY_BYTES);
    const header = viewOf(known instanceof Promise ? await known : known);
    const signature = header.getUint32(0, true);
    if (signature !== ENTRY_SIGNATURE) throw broken(`an entry begins with 0x${signature.toString(16)}`);
    const lengths = [28, 30, 32].map((at) => header.getUint16(at, true));
    const length = lengths.reduce((sum, n) => sum + n, 0);
    const others = archive.bytesAt(position + ENTRY_BYTES, length);
    found++;
    position += ENTRY_BYTES + length;
    yield entryOf(header, others instanceof Promise ? await others : others, lengths);
  }
  const isLostCarry = !end.isZip64 && found % COUNTS === stated;
  if (found !== stated && !isLostCarry) {
    throw new ZarrflowError("corrupt-store", "the zip directory has the wrong number of entries", {
      expected: stated,
      found,
    });
  }
  if (position > end.at || (position < end.at && (await archive.isEntryAt(position)))) {
    throw new ZarrflowError("corrupt-store", "the zip directory does not end at its end record", {
      expected: end.at,
      found: position,
    });
  }
  if (found !== stated) onOtherCount(stated, found);
}

function entryOf(
  header: DataView,
  bytes: Uint8Array,
  [nameLength = 0, extraLength = 0]: readonly number[],
): DirectoryEntry {
  const flags = header.getUint16(8, true);
  if (flags & STRONG_ENCRYPTION) {
    throw new ZarrflowError("unsupported-operation", "the zip has entries with strong encryption");
  }
  const extra = [...extraFields(bytes.subarray(nameLength, nameLength + extraLength))];
  const sizes = extra.find(({ id }) => id === ZIP64_SIZES)?.data;
  let used = 0;
  /** Returns the value of a field, or the next value of the zip64 field if the field refers to it. */
  const large = (at: number) => {
    const value = header.getUint32(at, true);
    if (value !== IN_ZIP64 || sizes === undefined) return value;
    if (used + 8 > sizes.length) throw broken("a zip64 field is too short");
    used += 8;
    return Number(viewOf(sizes).getBigUint64(used - 8, true));
  };
  const size = large(24);
  const packedSize = large(20);
  return {
    name: entryName(flags, bytes.subarray(0, nameLength), extra),
    nameLength,
    versionMadeBy: header.getUint16(4, true),
    isEncrypted: (flags & 1) !== 0,
    method: header.getUint16(10, true),
    crc32: header.getUint32(16, true),
    packedSize,
    size,
    attributes: header.getUint32(38, true),
    offset: large(42),
  };
}

function* extraFields(bytes: Uint8Array): Generator<ExtraField> {
  const view = viewOf(bytes);
  for (let at = 0; at < bytes.length - 3; ) {
    const start = at + 4;
    const end = start + view.getUint16(at + 2, true);
    if (end > bytes.length) throw broken("an extra field extends beyond its entry");
    yield { id: view.getUint16(at, true), data: bytes.subarray(start, end) };
    at = end;
  }
}

function broken(reason: string): ZarrflowError {
  return new ZarrflowError("corrupt-store", `the zip directory cannot be read: ${reason}`);
}

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
    throw new ZarrflowError("resource-limit", "the name of a zip entry is nested too deeply", {
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
