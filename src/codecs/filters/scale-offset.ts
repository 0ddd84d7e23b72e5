import { ZarrflowError } from "../../util/errors.ts";
import type { CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { integerRange } from "./convert.ts";
import { keeper, type NumberType } from "./number-array.ts";
import { assertNames, numbersAt, scalar, valueCodec } from "./value-codec.ts";

/**
 * `scale_offset`: encodes to `(value - offset) * scale` in the arithmetic of the array's own type, and decodes to
 * `value / scale + offset`. Rejects numbers if an integer type cannot hold an intermediate result.
 */
export const createScaleOffset: CodecFactory = (configuration, { spec }) => {
  assertNames(configuration, ["offset", "scale"]);
  const type = numbersAt("scale_offset", spec.dataType);
  const settings = new ConfigReader(configuration);
  const scale = scalar(settings.value("scale") ?? 1, type, "scale");
  const offset = scalar(settings.value("offset") ?? 0, type, "offset");
  const coding =
    type.kind === "float" ? floats(type, Number(scale), Number(offset)) : integers(type, scale, offset);
  return valueCodec({ name: "scale_offset", decoded: type, stored: type, ...coding });
};

function floats(type: NumberType, scale: number, offset: number) {
  const keep = keeper(type);
  return {
    encode: (value: number | bigint) => keep(keep(Number(value) - offset) * scale),
    decode: (value: number | bigint) => keep(keep(Number(value) / scale) + offset),
  };
}

function integers(type: NumberType, scale: number | bigint, offset: number | bigint) {
  const { least, most } = integerRange(type);
  const factor = BigInt(scale);
  const start = BigInt(offset);
  const inRange = (value: bigint) => {
    if (value >= least && value <= most) return value;
    throw notHeld(value, type);
  };
  const keep = (value: bigint) => (type.size === 8 ? inRange(value) : Number(inRange(value)));
  return {
    encode: (value: number | bigint) => keep(inRange(BigInt(value) - start) * factor),
    decode(value: number | bigint) {
      const whole = BigInt(value);
      if (factor === 0n || whole % factor !== 0n) throw notHeld(`${whole} / ${factor}`, type);
      return keep(inRange(whole / factor) + start);
    },
  };
}

function notHeld(value: bigint | string, { kind, size }: NumberType): ZarrflowError {
  return new ZarrflowError("codec-error", `${value} is not a value of ${kind}${8 * size}`);
}
