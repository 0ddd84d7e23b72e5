import { el, fill, labeled, select } from "../../src/cli/view/page/dom.ts";
import { Latest } from "../../src/cli/view/page/requests.ts";
import type { Panel } from "../../src/cli/view/page/view.ts";
import { sizeText } from "../../src/cli/view/page/words.ts";
import type { ViewedArray } from "../../src/flows/view/describe-node.ts";
import { type OpenSource, plan, rechunk, type SliceOption } from "../../src/index.ts";
import { zipIntoStream } from "../../src/stores/zip.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { counted } from "../../src/util/names.ts";
import { saveZip } from "./save-zip.ts";

const STOPPING = "Stopping …";
const BUDGETS = ["16MB", "64MB", "256MB", "1GB"].map((text) => [text, text] as const);

/** The range of a dimension, and its new chunk size. */
interface Row {
  readonly from: HTMLInputElement;
  readonly to: HTMLInputElement;
  readonly chunk: HTMLInputElement;
}

/** A form that saves an array, or a part of it, as a zip with other chunks. */
export class TakeAway implements Panel {
  readonly root = el("section", { class: "card", "aria-label": "Take away" });
  readonly #source: OpenSource;
  readonly #name: string;
  readonly #rows: readonly Row[];
  readonly #latest = new Latest();
  readonly #budget = select(BUDGETS, "64MB", () => {});
  readonly #bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
  readonly #status = el("p", { class: "status", role: "status" });
  readonly #download: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;

  constructor(source: OpenSource, name: string, { shape, chunkShape, dimensionNames }: ViewedArray) {
    this.#source = source;
    this.#name = name;
    const input = (label: string, value: number, max: number) =>
      el("input", { type: "number", min: 0, max, value, required: true, "aria-label": label });
    const names = shape.map((_, d) => dimensionNames[d] ?? `dimension ${d}`);
    this.#rows = shape.map((length, d) => ({
      from: input(`${names[d]}: from`, 0, length),
      to: input(`${names[d]}: to, not included`, length, length),
      chunk: input(`${names[d]}: chunk length`, chunkShape[d] ?? length, length),
    }));
    const button = (text: string, onclick: () => void) => el("button", { type: "button", onclick }, text);
    this.#download = button("Download zip", () => this.#run());
    this.#stop = button("Stop", () => this.stop());
    this.#stop.disabled = true;
    const cells = ({ from, to, chunk }: Row) => [from, to, chunk].map((one) => el("td", {}, one));
    fill(
      this.root,
      el("h3", {}, "Take away"),
      shape.length > 0 &&
        el(
          "table",
          { class: "cuts" },
          el("tr", {}, el("td"), ...["from", "to", "chunk"].map((text) => el("th", { scope: "col" }, text))),
          ...this.#rows.map((row, d) => el("tr", {}, el("th", { scope: "row" }, names[d]), ...cells(row))),
        ),
      el(
        "div",
        { class: "field" },
        labeled("Memory", this.#budget),
        button("Show the plan", () => this.#plan()),
        this.#download,
        this.#stop,
      ),
      this.#bar,
      this.#status,
    );
  }

  stop(): void {
    this.#latest.stop();
  }

  #options(signal: AbortSignal) {
    const numbers = (of: keyof Row) => this.#rows.map((row) => row[of].valueAsNumber);
    const [from, to] = [numbers("from"), numbers("to")];
    const slice: SliceOption = from.map((start, d) => [start, to[d] ?? start] as const);
    return { slice, companions: false, chunks: numbers("chunk"), maxMemory: this.#budget.value, signal };
  }

  #plan(): void {
    this.#latest.run(
      async (signal) => {
        fill(this.#status, "planning …");
        const nowhere = zipIntoStream(new WritableStream());
        const planned = await plan(this.#source, nowhere, this.#options(signal));
        await planned.close();
        const { totals, jobs } = planned.plan;
        const { tasks, chunksRead, chunksWritten, decodedBytes, logicalBytes, predictedPeak } = totals;
        const strategies = [...new Set(jobs.map(({ strategy }) => strategy))].join(", ");
        fill(
          this.#status,
          `${counted(tasks, "task")} (${strategies}): ${counted(chunksRead, "chunk")} read, ${sizeText(decodedBytes)} decoded; ` +
            `${counted(chunksWritten, "chunk")} written, ${sizeText(logicalBytes)} of items. Takes ${sizeText(predictedPeak)} of memory.`,
        );
      },
      (error) => this.#fail(error),
    );
  }

  #run(): void {
    this.#latest.run(
      async (signal) => {
        const zip = await saveZip(this.#name);
        this.#setRunning(true);
        const stopping = () => this.#setRunning(false, STOPPING);
        signal.addEventListener("abort", stopping, { once: true });
        try {
          let [tasks, done, bytes] = [0, 0, 0];
          await rechunk(this.#source, zip.target, {
            ...this.#options(signal),
            onEvent: (event) => {
              if (signal.aborted) return;
              if (event.type === "plan") tasks = event.plan.totals.tasks;
              if (event.type === "task-end") this.#bar.value = ++done / Math.max(1, tasks);
              if (event.type === "written") bytes += event.size;
              if (event.type === "retry") fill(this.#status, `Asking again: ${event.retry.error.message}`);
              else fill(this.#status, `${sizeText(bytes)} written`);
            },
          });
          this.#setRunning(false, `${await zip.finish()} ${sizeText(bytes)} of values.`);
        } catch (error) {
          await zip.giveUp();
          if (this.#status.textContent === STOPPING) fill(this.#status, "Stopped. Nothing is left.");
          throw error;
        } finally {
          signal.removeEventListener("abort", stopping);
        }
      },
      (error) => {
        this.#setRunning(false);
        if (error.name !== "AbortError") this.#fail(error); // not if the user chose no file
      },
    );
  }

  #setRunning(isRunning: boolean, text = ""): void {
    this.#bar.hidden = !isRunning;
    this.#bar.value = 0;
    this.#download.disabled = isRunning;
    this.#stop.disabled = !isRunning;
    fill(this.#status, text);
  }

  #fail(error: Error): void {
    const hint = isZarrflowError(error) ? error.details.hint : undefined;
    fill(this.#status, el("span", { class: "failure" }, [error.message, hint].filter(Boolean).join(". ")));
  }
}
