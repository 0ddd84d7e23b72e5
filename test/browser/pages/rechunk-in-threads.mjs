import { registerWorker } from "zarrflow";
import "./rechunk.mjs";

registerWorker(() => new Worker("/worker.js", { type: "module" }));
