import { corrupt, overrun } from "../../failures.ts";
import { LzmaDecoder, type Progress } from "./lzma-decoder.ts";
import { propertiesOf } from "./model.ts";
import { RangeDecoder } from "./range-decoder.ts";

/** Values of the first byte of a chunk. For LZMA chunks its low bits are part of the size. */
export const END = 0x00;
export const STORED_WITH_RESET = 0x01;
export const STORED = 0x02;
export const LZMA = 0x80;
export const LZMA_WITH_STATE_RESET = 0xa0;
export const LZMA_WITH_PROPERTIES = 0xc0;
export const LZMA_WITH_DICTIONARY_RESET = 0xe0;

/**
 * Decodes one LZMA2 stream: chunks, stored or LZMA, that share a dictionary.
 *
 * @throws `corrupt-chunk`, `codec-error`
 */
export function decodeLzma2(source: Uint8Array, target: Uint8Array, { read, written }: Progress): Progress {
  const decoder = new LzmaDecoder(target);
  let needsDictionary = true;
  let needsProperties = true;
  let s = read;
  let t = written;
  const byteAt = (i: number): number => {
    if (i >= source.length) throw corrupt("the LZMA2 data are truncated");
    return source[i] as number;
  };
  const sizeAt = (i: number): number => (byteAt(i) << 8) + byteAt(i + 1) + 1;

  for (;;) {
    const control = byteAt(s++);
    if (control === END) return { read: s, written: t };
    if (control === STORED_WITH_RESET || control >= LZMA_WITH_DICTIONARY_RESET) {
      decoder.dictionaryStart = t;
      needsDictionary = false;
      needsProperties = true;
    }
    if (needsDictionary || (control > STORED && control < LZMA))
      throw corrupt("an LZMA2 chunk has an unknown type");

    if (control < LZMA) {
      const size = sizeAt(s);
      s += 2;
      if (size > source.length - s) throw corrupt("the LZMA2 data are truncated");
      if (size > target.length - t) throw overrun(target.length);
      target.set(source.subarray(s, s + size), t);
      s += size;
      t += size;
      continue;
    }

    const size = ((control & 0x1f) << 16) + sizeAt(s);
    const encodedSize = sizeAt(s + 2);
    s += 4;
    if (control >= LZMA_WITH_PROPERTIES) {
      decoder.reset(propertiesOf(byteAt(s++)));
      needsProperties = false;
    } else if (needsProperties) {
      throw corrupt("an LZMA2 chunk has no properties");
    } else if (control >= LZMA_WITH_STATE_RESET) {
      decoder.reset();
    }
    if (size > target.length - t) throw overrun(target.length);
    const range = new RangeDecoder(source, s, s + encodedSize);
    const end = decoder.decode(range, t, t + size, tooLong);
    s += encodedSize;
    t += size;
    if (end !== t || range.position !== s || !range.isFinished) {
      throw corrupt("an LZMA2 chunk does not end where it should");
    }
  }
}

function tooLong() {
  return corrupt("an LZMA2 chunk is longer than it states");
}
