/** The longest code that the reference encoder writes; decoders accept longer ones. */
const MAX_LENGTH = 17;
/** Counts are multiplied by this, which is above the number of symbols, so that count and symbol sort as one number. */
const SYMBOL_SCALE = 512;

/**
 * Computes the Huffman code lengths of symbols that occur `counts` times; unused symbols get a code too. If a code is
 * too long, halves the counts until it fits.
 *
 * @param lengths filled with the result.
 */
export function codeLengths(counts: Int32Array, lengths: Uint8Array): void {
  const size = counts.length;
  const weights = new Int32Array(2 * size);
  const parents = new Int32Array(2 * size);
  const order = new Float64Array(size);
  for (let halvings = 0; ; halvings++) {
    for (let i = 0; i < size; i++)
      order[i] = Math.max(1, (counts[i] as number) >> halvings) * SYMBOL_SCALE + i;
    order.sort();
    for (let i = 0; i < size; i++) weights[i] = Math.floor((order[i] as number) / SYMBOL_SCALE);
    join(weights, parents, size);
    // From the root down, replace the parent of each node by its depth.
    parents[2 * size - 2] = 0;
    for (let node = 2 * size - 3; node >= 0; node--) {
      parents[node] = (parents[parents[node] as number] as number) + 1;
    }
    if ((parents[0] as number) <= MAX_LENGTH) break;
  }
  for (let i = 0; i < size; i++) lengths[(order[i] as number) % SYMBOL_SCALE] = parents[i] as number;
}

/** Repeatedly joins the two lightest nodes, taken from the sorted leaves and the nodes created so far. */
function join(weights: Int32Array, parents: Int32Array, leaves: number): void {
  let leaf = 0;
  let inner = leaves;
  for (let node = leaves; node < 2 * leaves - 1; node++) {
    let weight = 0;
    for (let child = 0; child < 2; child++) {
      const takesLeaf =
        leaf < leaves && (inner === node || (weights[leaf] as number) <= (weights[inner] as number));
      const taken = takesLeaf ? leaf++ : inner++;
      weight += weights[taken] as number;
      parents[taken] = node;
    }
    weights[node] = weight;
  }
}
