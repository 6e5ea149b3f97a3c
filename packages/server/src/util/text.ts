/** Text from others as part of a line: no line breaks, no control characters, nothing that turns the direction of writing. */
export function oneLine(text: string, maxCharacters: number): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...plain];
  return characters.length <= maxCharacters ? plain : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

// Long messages come from answers of other machines; their beginning tells enough.
const MAX_REASON_LENGTH = 500;

/** An error in a line, for the log and the operator. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_REASON_LENGTH);
  const cause = error.cause instanceof Error && error.cause.message ? ` (${error.cause.message})` : '';
  return `${error.message || error.name}${cause}`.slice(0, MAX_REASON_LENGTH);
}

/** Text from others for a column of limited length: PostgreSQL takes no NUL and no lone surrogates. */
export function storableText(text: string, maxLength: number): string {
  return text.replaceAll('\0', '').slice(0, maxLength).toWellFormed();
}
