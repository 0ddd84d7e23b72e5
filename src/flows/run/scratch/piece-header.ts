import type { Region } from "../../../streams/chunk.ts";
import { chunksIn, chunksTouched } from "../../../streams/regrid.ts";
import { intersect } from "../../../streams/selection.ts";
import { indexOf, product } from "../../../util/shape.ts";

/**
 * The first byte of a piece's header says whether no data went into the piece, only data, or some of each. One bit then
 * follows for each target chunk that the piece touches, in C order: set if the chunk received data. A chunk without any
 * data stays missing.
 */
const NOTHING = 0;
const ALL = 1;
const SOME = 2;

/**
 * Writes the header of a piece.
 *
 * @param present regions of the box that came with data, if any came without; undefined if all data are present.
 */
export function writeHeader(
  header: Uint8Array,
  piece: Region,
  chunkShape: readonly number[],
  present: readonly Region[] | undefined,
): void {
  header.fill(0);
  header[0] = ALL;
  if (present === undefined) return;
  const chunks = chunksTouched(piece, chunkShape);
  let bits = 0;
  for (const region of present) {
    const shared = intersect(region, piece);
    for (const coords of shared ? chunksIn(shared, chunkShape) : []) {
      const { byte, bit } = placeOf(coords, chunks);
      const before = header[byte] ?? 0;
      if ((before & bit) === 0) bits++;
      header[byte] = before | bit;
    }
  }
  if (bits < product(chunks.shape)) header[0] = SOME;
}

export function writeEmptyHeader(header: Uint8Array): void {
  header.fill(0);
  header[0] = NOTHING;
}

/** The parts of a piece, each with a flag that is true if its data are present. */
export function* presentParts(
  header: Uint8Array,
  piece: Region,
  chunkShape: readonly number[],
): Generator<{ readonly region: Region; readonly isPresent: boolean }> {
  if (header[0] !== SOME) {
    yield { region: piece, isPresent: header[0] === ALL };
    return;
  }
  const chunks = chunksTouched(piece, chunkShape);
  for (const coords of chunksIn(piece, chunkShape)) {
    const start = coords.map((c, d) => c * (chunkShape[d] ?? 1));
    const region = intersect({ start, shape: chunkShape }, piece);
    const { byte, bit } = placeOf(coords, chunks);
    if (region) yield { region, isPresent: ((header[byte] ?? 0) & bit) !== 0 };
  }
}

function placeOf(coords: readonly number[], chunks: Region): { byte: number; bit: number } {
  const at = indexOf(
    coords.map((c, d) => c - (chunks.start[d] ?? 0)),
    chunks.shape,
  );
  return { byte: 1 + (at >>> 3), bit: 1 << (at & 7) };
}
