export function oneLine(text: string, maxCharacters: number): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...plain];
  return characters.length <= maxCharacters ? plain : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

const MAX_ERROR_LENGTH = 500;

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return storableText(String(error), MAX_ERROR_LENGTH);
  const cause = error.cause instanceof Error && error.cause.message ? ` (${error.cause.message})` : '';
  return storableText(`${error.message || error.name}${cause}`, MAX_ERROR_LENGTH);
}

/** PostgreSQL stores neither NUL characters nor lone surrogates. */
export function storableText(text: string, maxLength: number): string {
  return text.replaceAll('\0', '').slice(0, maxLength).toWellFormed();
}
