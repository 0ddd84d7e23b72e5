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
  readonly claims?: {
    readonly size?: number;
    readonly packedSize?: number;
    readonly crc32?: number;
    readonly offset?: number;
  };
}

export interface ArchiveDraft {
  readonly comment?: Uint8Array;
  /** Bytes before the archive, which offsets do not count. */
  readonly before?: Uint8Array;
  /** Puts sizes and offsets into zip64 fields though they are small. */
  readonly zip64?: boolean;
  readonly claims?: {
    readonly entries?: number;
    readonly disk?: number;
    readonly offset?: number;
    readonly size?: number;
  };
  /** Bytes between the directory and its end record. */
  readonly afterDirectory?: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** Writes archives that no writer would, byte by byte. */
export function buildZip(entries: readonly EntryDraft[], archive: ArchiveDraft = {}): Uint8Array {
  const body: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const draft of entries) {
    const begun = body.length;
    const { value = NOTHING, method = 0, flags = 0x0800, descriptor = false, claims = {} } = draft;
    const name = typeof draft.name === "string" ? Buffer.from(draft.name) : draft.name;
    const localName = draft.localName === undefined ? name : Buffer.from(draft.localName);
    const packed = method === 8 ? deflateRawSync(value) : value;
    const known = { crc32: crc32(value), packedSize: packed.length, size: value.length, offset, ...claims };
    const bits = flags | (descriptor ? 8 : 0);
    const local = descriptor ? { crc32: 0, packedSize: 0, size: 0 } : known;
    const localExtra = draft.localExtra ?? NOTHING;
    body.push(
      fields([0x04034b50, 4], [20, 2], [bits, 2], [method, 2], [0, 4], [local.crc32, 4]),
      fields([local.packedSize, 4], [local.size, 4], [localName.length, 2], [localExtra.length, 2]),
      localName,
      localExtra,
      packed,
    );
    if (descriptor)
      body.push(fields([0x08074b50, 4], [known.crc32, 4], [known.packedSize, 4], [known.size, 4]));

    offset += lengthOf(body.slice(begun));

    const comment = draft.comment === undefined ? NOTHING : Buffer.from(draft.comment);
    let extra = draft.extra ?? NOTHING;
    if (archive.zip64) {
      const zip64 = fields([1, 2], [24, 2], [known.size, 8], [known.packedSize, 8], [known.offset, 8]);
      extra = Buffer.concat([extra, zip64]);
    }
    const shown = (number: number) => (archive.zip64 ? 0xffffffff : number);
    directory.push(
      fields(
        [0x02014b50, 4],
        [draft.madeBy ?? 0x033f, 2],
        [20, 2],
        [bits, 2],
        [method, 2],
        [0, 4],
        [known.crc32, 4],
      ),
      fields([shown(known.packedSize), 4], [shown(known.size), 4], [name.length, 2], [extra.length, 2]),
      fields(
        [comment.length, 2],
        [0, 4],
        [draft.attributes ?? 0o100644 * 0x10000, 4],
        [shown(known.offset), 4],
      ),
      name,
      extra,
      comment,
    );
  }
  const { claims = {}, comment = NOTHING, before = NOTHING } = archive;
  const directoryAt = claims.offset ?? offset;
  const size = claims.size ?? lengthOf(directory);
  const gap = archive.afterDirectory ?? NOTHING;
  const count = claims.entries ?? entries.length;
  const zip64End = [
    fields(
      [0x06064b50, 4],
      [44, 8],
      [45, 2],
      [45, 2],
      [0, 8],
      [count, 8],
      [count, 8],
      [size, 8],
      [directoryAt, 8],
    ),
    fields([0x07064b50, 4], [0, 4], [directoryAt + size + gap.length, 8], [1, 4]),
  ];
  const end = archive.zip64
    ? fields(
        [0x06054b50, 4],
        [0, 4],
        [0xffff, 2],
        [0xffff, 2],
        [0xffffffff, 4],
        [0xffffffff, 4],
        [comment.length, 2],
      )
    : fields(
        [0x06054b50, 4],
        [claims.disk ?? 0, 4],
        [count, 2],
        [count, 2],
        [size, 4],
        [directoryAt, 4],
        [comment.length, 2],
      );
  return new Uint8Array(
    Buffer.concat([before, ...body, ...directory, gap, ...(archive.zip64 ? zip64End : []), end, comment]),
  );
}

/** Numbers in little-endian order, each in as many bytes as it says. */
function fields(...values: readonly (readonly [number, number])[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(values.reduce((sum, [, width]) => sum + width, 0));
  let at = 0;
  for (const [value, width] of values) {
    if (width === 2) at = bytes.writeUInt16LE(value, at);
    else if (width === 4) at = bytes.writeUInt32LE(value, at);
    else at = bytes.writeBigUInt64LE(BigInt(value), at);
  }
  return bytes;
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
