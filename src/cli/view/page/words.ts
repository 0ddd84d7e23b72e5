export type AxisLabel = number | string | null;

/** A mark on an axis, at a fraction of its length. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Pixels of an axis, and the pixels that a number or a text on it needs. */
export interface Room {
  readonly length: number;
  readonly number: number;
  readonly text: number;
}

export function numberText(number: number | undefined): string {
  if (number === undefined || Number.isNaN(number)) return "missing";
  return `${Number(number.toPrecision(7))}`.replace("-", "−");
}

export function labelText(label: AxisLabel | undefined): string {
  if (typeof label === "number") return numberText(label);
  return (label ?? "").replace(/T00:00:00$/, "").replace(/T(\d\d:\d\d)(?::00)?$/, " $1");
}

export function sizeText(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const number = bytes / 1000 ** power;
  return `${power === 0 ? number : number.toPrecision(3)} ${["bytes", "kB", "MB", "GB", "TB"][power]}`;
}

/** An ordinal number: 2nd, 3rd, 11th. */
export function ordinal(number: number): string {
  const last = Math.floor(number / 10) % 10 === 1 ? 0 : number % 10;
  return `${number.toLocaleString("en")}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

/** A few round numbers within a range. */
export function niceNumbers(low: number, high: number, most: number): number[] {
  const least = (high - low) / Math.max(1, most);
  if (!(least > 0) || !Number.isFinite(least)) return [low];
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= least * 0.999) ?? 10) * power;
  const numbers: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    numbers.push(Number((i * step).toPrecision(12)));
  return numbers;
}

/**
 * Ticks for items with these labels: at round numbers if the labels are sorted numbers, else at evenly spaced items.
 */
export function ticksOf(labels: readonly AxisLabel[], pixels: Room): Tick[] {
  const { length } = labels;
  const numbers = labels.filter((label) => typeof label === "number");
  const direction = Math.sign((numbers.at(-1) ?? 0) - (numbers[0] ?? 0));
  const isSorted =
    numbers.length === length &&
    numbers.every((number, i) => i === 0 || (number - (numbers[i - 1] ?? 0)) * direction > 0);
  if (isSorted && length > 1) {
    const ends = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
    return niceNumbers(Math.min(...ends), Math.max(...ends), pixels.length / pixels.number).map((number) => {
      const after = Math.max(
        1,
        numbers.findIndex((one) => (one - number) * direction >= 0),
      );
      const [a, b] = [numbers[after - 1] ?? 0, numbers[after] ?? 0];
      return { at: (after - 0.5 + (number - a) / (b - a)) / length, text: numberText(number) };
    });
  }
  const count = Math.min(length, Math.max(2, Math.floor(pixels.length / pixels.text)));
  return Array.from({ length: count }, (_, k) => {
    const i = count === 1 ? 0 : Math.round((k * (length - 1)) / (count - 1));
    return { at: (i + 0.5) / length, text: labelText(labels[i]) };
  });
}
