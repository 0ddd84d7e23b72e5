// Runs the modules that its parent names, one after the other, each in its folder, and sends back what each prints.
import { inspect } from "node:util";

const { stdout } = process;
const write = stdout.write;

process.on("message", async ({ url, folder }) => {
  let printed = "";
  stdout.write = (data, ...rest) => {
    printed += data;
    rest.find((one) => typeof one === "function")?.();
    return true;
  };
  process.chdir(folder);
  const failed = await import(url).then(
    () => undefined,
    (error) => inspect(error),
  );
  stdout.write = write;
  process.send({ printed, failed });
});
