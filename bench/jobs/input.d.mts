import type { CreateTarget } from "zarrflow";

export const SIZES: { readonly time: number; readonly latitude: number; readonly longitude: number };

export function makeInput(target: CreateTarget, sizes?: typeof SIZES): Promise<void>;
