import { type Static, type TSchema, Type } from 'typebox';
import { MOMENT_PATTERN } from '../values/moment.ts';

/** A plain JSON Schema `enum`. */
export function OneOf<const T extends readonly string[]>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>(Type.String({ enum: [...values], ...options }));
}

export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export const Timestamp = () => Type.String({ format: 'date-time', maxLength: 40 });

export const Moment = (description: string) =>
  Type.String({
    pattern: MOMENT_PATTERN,
    maxLength: 40,
    description: `${description}: an ISO 8601 date-time with its zone, or a date, which is midnight UTC`,
  });

/** Fits a UUID, an e-mail address and most token subjects. */
export const ExternalUserId = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });

export const Identifier = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

/** Any case and zero padding. The capability checks the chain's format. */
export const AddressText = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

export const Felt = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 80, ...(description ? { description } : {}) });

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'A stable code from the catalogue' }),
    message: Type.String({ description: 'What went wrong and what to do' }),
  },
  { title: 'Error', examples: [{ error: 'invalid_request', message: 'body.amount must be number.' }] },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const Success = Type.Object({ success: Type.Boolean() }, { title: 'Success' });

export function Page<T extends TSchema>(item: T, title: string) {
  return Type.Object(
    {
      data: Type.Array(item),
      total: Type.Integer({ description: 'Number of matching items' }),
      page: Type.Integer(),
      limit: Type.Integer(),
      totalPages: Type.Integer(),
    },
    { title },
  );
}

/** Keeps the offset small. */
const MAX_PAGE = 1_000_000;

export const pageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 10, description: 'Above 100 counts as 100' })),
};

/** Newer lists: no count and no page numbers, so that a page costs the same at any depth. */
export function CursorPage<T extends TSchema>(item: T, title: string) {
  return Type.Object(
    {
      data: Type.Array(item),
      nextCursor: Nullable(Type.String({ description: 'Send it as cursor to read on; null on the last page' })),
    },
    { title },
  );
}

export const cursorQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 25, description: 'Above 100 counts as 100' })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'nextCursor of the page before' })),
};

export const timeRangeQuery = {
  createdAfter: Type.Optional(Moment('Created at this time or later')),
  createdBefore: Type.Optional(Moment('Created before this time')),
};
