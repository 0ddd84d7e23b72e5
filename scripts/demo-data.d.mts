export function prepareGuides(folder: string, signal?: AbortSignal): Promise<void>;
export function makeWeather(path: string, shape: readonly number[], signal?: AbortSignal): Promise<void>;
