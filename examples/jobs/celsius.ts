// Converts an array from Kelvin to degrees Celsius, in chunks that span all times.
import { type RunReport, rechunk } from "zarrflow";

export function toCelsius(source: string, target: string): Promise<RunReport> {
  return rechunk(source, target, {
    chunks: { time: -1, latitude: 16, longitude: 16 },
    maxMemory: "64MB",
    arrays: {
      "*": {
        unpack: true,
        dataType: "float32",
        map: ({ data }) => data.map((kelvin) => kelvin - 273.15),
        attributes: { units: "degC" },
      },
    },
  });
}
