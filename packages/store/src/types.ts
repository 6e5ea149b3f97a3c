import pg from 'pg';

// The driver's list of names knows no arrays.
const TEXT_ARRAY: number = 1009;
const INT8_ARRAY = 1016;
const NUMERIC_ARRAY = 1231;

type Parser = (text: string) => unknown;
const textArray: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY);

// Where the driver would round (int8[], numeric[]) or guess a time zone (date), the exact value is kept instead.
const parsers = new Map<number, Parser>([
  [pg.types.builtins.INT8, BigInt],
  [INT8_ARRAY, (text) => textArray(text).map((item) => (item === null ? null : BigInt(item)))],
  [NUMERIC_ARRAY, textArray],
  [pg.types.builtins.DATE, String],
]);

/** Given to each connection of ours; the driver's global table stays as other libraries expect it. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(id)) || pg.types.getTypeParser(id, format),
};
