/** Bits of floats for which JavaScript may lack a typed array, and the numbers that they mean. */
export interface FloatBits {
  /** Bits of the nearest float, ties to even. Too large values become infinity, NaN the positive quiet NaN. */
  readonly toBits: (value: number) => number;
  readonly fromBits: (bits: number) => number;
}

/** Converts the 16-bit floats in `bytes`. */
export function readSmallFloats(bytes: Uint8Array, { fromBits }: FloatBits): Float32Array<ArrayBuffer> {
  const { buffer, byteOffset } = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  const bits = new Uint16Array(buffer, byteOffset, bytes.byteLength >> 1);
  const floats = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) floats[i] = fromBits(bits[i] as number);
  return floats;
}

/** Fills `bytes`, which begin at an even offset of their buffer, with as many floats. */
export function writeSmallFloats(floats: ArrayLike<number>, bytes: Uint8Array, { toBits }: FloatBits): void {
  const bits = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1);
  for (let i = 0; i < bits.length; i++) bits[i] = toBits(floats[i] as number);
}

/**
 * The format of 16-bit floats with `significand` explicit bits of the significand, as IEEE 754 defines such formats.
 */
export function smallFloats(significand: number): FloatBits {
  const unit = 2 ** significand;
  const infinity = 0x8000 - unit;
  const greatest = infinity / unit;
  const least = 2 - (greatest + 1) / 2;
  const tooLarge = (2 - 0.5 / unit) * 2 ** -(least - 1);
  /** Steps between floats per unit, by exponent; floats below the least exponent are subnormal, in its steps. */
  const steps = Float64Array.from({ length: greatest - 1 }, (_, i) => 2 ** (significand - least - i));
  return {
    toBits(value) {
      if (Number.isNaN(value)) return infinity + unit / 2;
      const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
      const magnitude = Math.abs(value);
      if (magnitude >= tooLarge) return sign | infinity;
      double[0] = magnitude;
      const exponent = Math.max(((words[HIGH] as number) >>> 20) - 1023, least) - least;
      return sign | (roundToEven(magnitude * (steps[exponent] as number)) + exponent * unit);
    },
    fromBits(bits) {
      const sign = bits & 0x8000 ? -1 : 1;
      const exponent = (bits >> significand) & greatest;
      const mantissa = bits & (unit - 1);
      if (exponent === 0) return (sign * mantissa) / (steps[0] as number);
      if (exponent === greatest) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
      return (sign * (unit + mantissa)) / (steps[exponent - 1] as number);
    },
  };
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
/** Index of the word that contains a double's exponent. */
const HIGH = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
