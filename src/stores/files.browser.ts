export const files = undefined;
