// Copies a hierarchy byte for byte into a zip, and reads every key back before the zip gets its name.
import { join } from "node:path";
import { copy } from "zarrflow";
import { makeInput } from "./make-input.ts";

const folder = await makeInput();
const report = await copy(join(folder, "era5.zarr"), join(folder, "era5.zarr.zip"), {
  verify: true,
  onEvent(event) {
    if (event.type === "plan") console.log(`${event.plan.totals.arrays} array, ${event.plan.operation}`);
  },
});

console.log(`${report.keysWritten} keys, ${report.bytesWritten} bytes, ${report.keysVerified} read back`);
