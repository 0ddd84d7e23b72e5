import { deflateRawSync } from "node:zlib";
import { crc32 } from "../../../src/util/crc32.ts";

/** An entry, with what is to be unusual about it. */
export interface EntryDraft {
  readonly name: string | Uint8Array;
  readonly value?: Uint8Array;
  readonly method?: number;
  /** @default 0x0800, a name in UTF-8 */
  readonly flags?: number;
  readonly localExtra?: Uint8Array;
  /** The name in the local header, where that is another one. */
  readonly localName?: string;
  readonly extra?: Uint8Array;
  readonly comment?: string;
  readonly descriptor?: boolean;
  readonly madeBy?: number;
  readonly attributes?: number;
  /** What the directory says instead of the truth. */
  readonly claims?: Partial<Record<"size" | "packedSize" | "crc32" | "offset", number>>;
}

export interface ArchiveDraft {
  readonly comment?: Uint8Array;
  /** Bytes before the archive, which offsets do not count. */
  readonly before?: Uint8Array;
  /** Puts sizes and offsets into zip64 fields though they are small. */
  readonly zip64?: boolean;
  readonly claims?: Partial<Record<"entries" | "disk" | "offset" | "size", number>>;
  /** Bytes between the directory and its end record. */
  readonly afterDirectory?: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** Writes archives that no writer would, byte by byte. */
export function buildZip(entries: readonly EntryDraft[], archive: ArchiveDraft = {}): Uint8Array {
  const { claims = {}, comment = NOTHING, before = NOTHING, zip64, afterDirectory: gap = NOTHING } = archive;
  const shown = (number: number) => (zip64 ? 0xffffffff : number);
  const body: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let end = 0;
  for (const draft of entries) {
    const { value = NOTHING, method = 0, flags = 0x0800, descriptor, localExtra = NOTHING } = draft;
    const name = typeof draft.name === "string" ? Buffer.from(draft.name) : draft.name;
    const localName = draft.localName === undefined ? name : Buffer.from(draft.localName);
    const packed = method === 8 ? deflateRawSync(value) : value;
    const truth = { crc32: crc32(value), packedSize: packed.length, size: value.length, offset: end };
    const { crc32: crc, packedSize, size, offset } = { ...truth, ...draft.claims };
    const bits = flags | (descriptor ? 8 : 0);
    const local = descriptor ? [0, 0, 0] : [crc, packedSize, size];
    const parts = [
      pack("4222444422", 0x04034b50, 20, bits, method, 0, ...local, localName.length, localExtra.length),
      localName,
      localExtra,
      packed,
      descriptor ? pack("4444", 0x08074b50, crc, packedSize, size) : NOTHING,
    ];
    body.push(...parts);
    end += lengthOf(parts);
    const about = Buffer.from(draft.comment ?? "");
    const extra = Buffer.concat([
      draft.extra ?? NOTHING,
      zip64 ? pack("22888", 1, 24, size, packedSize, offset) : NOTHING,
    ]);
    const attributes = draft.attributes ?? 0o100644 * 0x10000;
    directory.push(
      pack("4222244", 0x02014b50, draft.madeBy ?? 0x033f, 20, bits, method, 0, crc),
      pack("44222", shown(packedSize), shown(size), name.length, extra.length, about.length),
      pack("444", 0, attributes, shown(offset)),
      name,
      extra,
      about,
    );
  }
  const { offset: at = end, size = lengthOf(directory), entries: count = entries.length, disk = 0 } = claims;
  const zip64End = [
    pack("482288888", 0x06064b50, 44, 45, 45, 0, count, count, size, at),
    pack("4484", 0x07064b50, 0, at + size + gap.length, 1),
  ];
  const stated = zip64 ? [0xffff, 0xffff] : [count, count];
  const last = pack("4422442", 0x06054b50, disk, ...stated, shown(size), shown(at), comment.length);
  const parts = [before, ...body, ...directory, gap, ...(zip64 ? zip64End : []), last, comment];
  return new Uint8Array(Buffer.concat(parts));
}

/** Numbers in little-endian order, each in as many bytes as its digit says. */
function pack(widths: string, ...values: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc([...widths].reduce((sum, width) => sum + Number(width), 0));
  let at = 0;
  for (const [i, value] of values.entries()) {
    if (widths[i] === "2") at = bytes.writeUInt16LE(value, at);
    else if (widths[i] === "4") at = bytes.writeUInt32LE(value, at);
    else at = bytes.writeBigUInt64LE(BigInt(value), at);
  }
  return bytes;
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
