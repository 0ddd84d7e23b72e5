/** Number of items in a box of `shape`; 1 for a scalar. */
export function product(shape: readonly number[]): number {
  let items = 1;
  for (const n of shape) items *= n;
  return items;
}

/** Strides of contiguous C order (last dimension fastest), in items. */
export function cStrides(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let stride = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= shape[d] ?? 1;
  }
  return strides;
}

/** Coords of the item at `index` in C order. */
export function coordsAt(index: number, shape: readonly number[]): number[] {
  const coords = new Array<number>(shape.length);
  let rest = index;
  for (let d = shape.length - 1; d >= 0; d--) {
    const n = shape[d] ?? 1;
    coords[d] = rest % n;
    rest = Math.floor(rest / n);
  }
  return coords;
}

/** Index in C order of the item at `coords`. */
export function indexOf(coords: readonly number[], shape: readonly number[]): number {
  let index = 0;
  for (let d = 0; d < shape.length; d++) index = index * (shape[d] ?? 1) + (coords[d] ?? 0);
  return index;
}

/** All coords of a box of `shape` in C order, each a new array. */
export function* coordsOf(shape: readonly number[]): Generator<number[]> {
  const items = product(shape);
  for (let i = 0; i < items; i++) yield coordsAt(i, shape);
}

/** All divisors of a number, ascending. */
export function divisorsOf(n: number): number[] {
  const small: number[] = [];
  for (let i = 1; i * i <= n; i++) if (n % i === 0) small.push(i);
  const large = small.map((i) => n / i).reverse();
  return [...new Set([...small, ...large])];
}
