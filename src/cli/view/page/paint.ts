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

type Rgb = readonly [number, number, number];

/** Colour maps, from low to high, as evenly spaced stops. */
export const COLOUR_MAPS: Readonly<Record<string, string>> = {
  viridis: "440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725",
  magma: "000004 1c1044 4f127b 812581 b5367a e55964 fb8761 fec287 fcfdbf",
  balance: "053061 2166ac 4393c3 92c5de f7f7f7 f4a582 d6604d b2182b 67001f",
  grey: "000000 ffffff",
};

export function hexColour(hex: string): Rgb {
  const number = Number.parseInt(hex, 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** The 256 colours of a map, three bytes each. */
export function colourTable(name: string): Uint8ClampedArray {
  const stops = (COLOUR_MAPS[name] ?? "").split(" ").map(hexColour);
  const table = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const [a, b] = [stops[Math.floor(at)], stops[Math.ceil(at)]];
    for (let k = 0; k < 3; k++) table[3 * i + k] = (a?.[k] ?? 0) + ((b?.[k] ?? 0) - (a?.[k] ?? 0)) * (at % 1);
  }
  return table;
}

/** Colours of channels that specify none. */
const CHANNEL_COLOURS = ["ff0000", "00ff00", "0000ff", "00ffff", "ff00ff", "ffff00"];

export function channelColour(stated: string | undefined, i: number, count: number): string {
  return stated ?? (count === 1 ? "ffffff" : (CHANNEL_COLOURS[i % CHANNEL_COLOURS.length] ?? "ffffff"));
}
