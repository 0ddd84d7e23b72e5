export const machine = undefined;
