import type { ChunkMap } from "../../../flows/view/chunk-map.ts";
import type { ViewedArray } from "../../../flows/view/describe-node.ts";
import { counted } from "../../../util/names.ts";
import { el, fill } from "./dom.ts";
import { getJson, Latest } from "./requests.ts";
import { sizeText } from "./words.ts";

/** Number of cells in a row of the drawing. A long single row is wrapped. */
function drawnColumns({ rows, columns }: ChunkMap): number {
  return rows === 1 ? Math.min(columns, columns <= 128 ? 16 : 32) : columns;
}

const WIDTH = 270;

/** A map of the stored chunks and their sizes. */
export class ChunkPanel {
  readonly root = el("section", { class: "card", "aria-label": "Chunks" });
  readonly #path: string;
  readonly #array: ViewedArray;
  readonly #noun: string;
  readonly #latest = new Latest();
  readonly #readout = el("output", { class: "readout" });
  #cell = 0;

  constructor(path: string, array: ViewedArray) {
    this.#path = path;
    this.#array = array;
    this.#noun = array.innerChunkShape ? "shard" : "chunk";
    this.#show(el("p", { class: "soft" }, "listing …"));
  }

  start(): void {
    this.#latest.run(
      async (signal) => {
        const map = await getJson<ChunkMap | null>("chunks", { path: this.#path }, signal);
        if (map) this.#draw(map);
        else
          this.#show(
            el(
              "p",
              { class: "soft" },
              `This store cannot list its keys: which ${this.#noun}s are stored is not known.`,
            ),
          );
      },
      ({ message }) => this.#show(el("p", { class: "failure" }, message)),
    );
  }

  stop(): void {
    this.#latest.stop();
  }

  #show(...contents: readonly HTMLElement[]): void {
    fill(this.root, el("h3", {}, this.#array.innerChunkShape ? "Shards" : "Chunks"), ...contents);
  }

  #draw(map: ChunkMap): void {
    const { dimensions, perCell, chunksPresent, storedBytes, grid, present } = map;
    const columns = drawnColumns(map);
    const rows = Math.ceil(present.length / columns);
    const total = grid.reduce((product, n) => product * n, 1);
    const names = dimensions.map((d) => this.#array.dimensionNames[d] ?? `dimension ${d}`);
    const [down, across] = names.length < 2 ? ["", names[0] ?? ""] : names;
    const stored = `${counted(chunksPresent, this.#noun)} of ${total.toLocaleString("en")} stored`;
    const canvas = el("canvas", {
      class: "map",
      tabindex: 0,
      role: "img",
      "aria-label": `${stored}. Arrow keys read the cells.`,
      onkeydown: (event: KeyboardEvent) => {
        const steps: Readonly<Record<string, number>> = {
          ArrowLeft: -1,
          ArrowRight: 1,
          ArrowUp: -columns,
          ArrowDown: columns,
        };
        const step = steps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const to = this.#cell + step;
        if (to >= 0 && to < present.length) this.#tell(map, to);
      },
      onpointermove: ({ offsetX, offsetY }: PointerEvent) => {
        const column = Math.floor((offsetX / canvas.clientWidth) * columns);
        const row = Math.floor((offsetY / canvas.clientHeight) * rows);
        if (column >= 0 && row >= 0 && column < columns && row < rows)
          this.#tell(map, row * columns + column);
      },
    });
    const side = Math.max(4, Math.min(26, Math.floor(WIDTH / columns)));
    const paint = () => paintMap(canvas, map, side);
    matchMedia("(prefers-color-scheme: dark)").onchange = paint;
    const cells = perCell.some((n) => n > 1)
      ? `A cell is ${perCell.slice(2 - names.length).join(" × ")} ${this.#noun}s.`
      : "";
    const axes =
      names.length === 0
        ? ""
        : names.length === 1
          ? `${across} to the right`
          : `${down} down, ${across} to the right`;
    const others =
      map.others > 1 ? `all ${map.others.toLocaleString("en")} of the other dimensions together` : "";
    const lie = [axes, others].filter(Boolean).join(", ");
    const sentence = lie === "" ? "" : `${lie}.`;
    this.#show(
      el("p", {}, stored, storedBytes === null ? "" : `, ${sizeText(storedBytes)}`),
      canvas,
      el("p", { class: "soft" }, [sentence, cells].filter(Boolean).join(" ")),
      el(
        "p",
        { class: "legends" },
        legend("full", "stored"),
        legend("some", map.bytes ? "smaller, or in part" : "in part"),
        legend("hatched", "missing"),
      ),
      this.#readout,
    );
    paint();
  }

  #tell(map: ChunkMap, cell: number): void {
    const { columns, present, bytes, dimensions, perCell } = map;
    this.#cell = cell;
    const place = [Math.floor(cell / columns), cell % columns].slice(2 - dimensions.length);
    const first = place.map((at, i) => at * (perCell.slice(2 - dimensions.length)[i] ?? 1));
    const size = bytes ? `, ${sizeText(bytes[cell] ?? 0)}` : "";
    const stored = present[cell] ?? 0;
    const most = mostIn(map, cell);
    const state =
      stored === 0 ? "missing" : most === 1 ? `stored${size}` : `${stored} of ${most} stored${size}`;
    fill(this.#readout, `${this.#noun} (${first.join(", ")}): ${state}`);
  }
}

/** Number of chunks in a cell: fewer at the edges. */
function mostIn({ columns, perCell, dimensions, grid, others }: ChunkMap, cell: number): number {
  const place = [Math.floor(cell / columns), cell % columns];
  const counts = perCell.map((per, i) => {
    const d = dimensions[i - (2 - dimensions.length)];
    return d === undefined ? 1 : Math.min(per, (grid[d] ?? 1) - (place[i] ?? 0) * per);
  });
  return counts.reduce((product, n) => product * n, others);
}

function legend(kind: string, text: string): HTMLElement {
  return el("span", { class: "legend" }, el("i", { class: `swatch ${kind}` }), text);
}

function paintMap(canvas: HTMLCanvasElement, map: ChunkMap, side: number): void {
  const { present, bytes } = map;
  const columns = drawnColumns(map);
  const gap = side > 6 ? 2 : side > 4 ? 1 : 0;
  canvas.width = columns * side;
  canvas.height = Math.ceil(present.length / columns) * side;
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { color, backgroundColor } = getComputedStyle(canvas);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const each = present.map((count, cell) => (bytes ? (bytes[cell] ?? 0) / Math.max(1, count) : 1));
  const largest = Math.max(...each);
  for (let cell = 0; cell < present.length; cell++) {
    const [x, y] = [(cell % columns) * side, Math.floor(cell / columns) * side];
    const part = (present[cell] ?? 0) / mostIn(map, cell);
    context.globalAlpha = 1;
    if (part === 0) context.clearRect(x, y, side - gap, side - gap);
    context.fillStyle = color;
    context.globalAlpha =
      part === 0 ? 0 : 0.25 + 0.75 * part * (largest > 0 ? (each[cell] ?? 0) / largest : 1);
    context.fillRect(x, y, side - gap, side - gap);
  }
}
