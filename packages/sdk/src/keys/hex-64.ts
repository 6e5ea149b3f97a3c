/** A value as 64 digits, without 0x: one spelling for each. */
export const hex64 = (value: bigint) => value.toString(16).padStart(64, '0');
