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
