// Pixels for `ImageData` of one time step of an array: cold is blue, warm is red, missing is transparent.
import { openArray } from "zarrflow/read";

export async function mapPixels(url: string, time: number): Promise<Uint8ClampedArray> {
  const array = await openArray(url);
  const { data } = await array.slice({ time }).read({ decode: true });
  const values = Float64Array.from(data as ArrayLike<number>);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const pixels = new Uint8ClampedArray(4 * values.length);
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) continue;
    const warmth = (255 * (value - least)) / (most - least || 1);
    pixels.set([warmth, 64, 255 - warmth, 255], 4 * i);
  }
  return pixels;
}
