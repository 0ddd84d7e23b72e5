import { hexColour } from "./colours.ts";

/** Numbers of a picture, and the layout of its rows and columns in them. */
export interface Layer {
  readonly data: ArrayLike<number>;
  /** Items from one row, and from one column, to the next. */
  readonly rowStep: number;
  readonly columnStep: number;
}

export interface PaintedChannel extends Layer {
  readonly color: string;
  /** The numbers that are black and in full colour. */
  readonly window: readonly [number, number];
}

interface Size {
  readonly rows: number;
  readonly columns: number;
  /** True if the first row is at the bottom. */
  readonly isUpward: boolean;
}

/** Paints numbers with a colour map; missing items stay transparent. */
export function paintColours(
  { data, rowStep, columnStep }: Layer,
  size: Size,
  [low, high]: readonly [number, number],
  table: Uint8ClampedArray,
): ImageData {
  const scale = high > low ? 255 / (high - low) : 0;
  return painted(size, (row, column, pixels, to) => {
    const value = data[row * rowStep + column * columnStep] ?? Number.NaN;
    if (Number.isNaN(value)) return;
    const shade = scale === 0 ? 127 : Math.max(0, Math.min(255, Math.round((value - low) * scale)));
    for (let k = 0; k < 3; k++) pixels[to + k] = table[3 * shade + k] ?? 0;
    pixels[to + 3] = 255;
  });
}

/** Adds up the light of all channels. A pixel stays transparent only if it is missing in all of them. */
export function paintChannels(channels: readonly PaintedChannel[], size: Size): ImageData {
  const lights = channels.map(({ color, window: [low, high], ...layer }) => ({
    ...layer,
    low,
    scale: 1 / Math.max(high - low, Number.MIN_VALUE),
    color: hexColour(color),
  }));
  return painted(size, (row, column, pixels, to) => {
    for (const { data, rowStep, columnStep, low, scale, color } of lights) {
      const value = data[row * rowStep + column * columnStep] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const light = Math.max(0, Math.min(1, (value - low) * scale));
      for (let k = 0; k < 3; k++) pixels[to + k] = (pixels[to + k] ?? 0) + light * (color[k] ?? 0);
      pixels[to + 3] = 255;
    }
  });
}

function painted(
  { rows, columns, isUpward }: Size,
  paint: (row: number, column: number, pixels: Uint8ClampedArray, to: number) => void,
): ImageData {
  const image = new ImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    const to = (isUpward ? rows - 1 - row : row) * columns;
    for (let column = 0; column < columns; column++) paint(row, column, image.data, 4 * (to + column));
  }
  return image;
}
