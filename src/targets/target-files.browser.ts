export const targetFiles = undefined;
