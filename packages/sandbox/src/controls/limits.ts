/** A person or a test asks for a handful; hours of blocks are better skipped by time travel. */
export const MAX_MINED_BLOCKS = 1_000;
/** A live chain loses a handful at worst; enough for any test. */
export const MAX_REORGANISED_BLOCKS = 100;
