import { type Static, Type } from 'typebox';
import { skuCategories } from '../enums.ts';
import { Identifier, OneOf, Page, pageQuery, Timestamp } from './common.ts';
import { CurrencyName } from './transaction.ts';

/** A Cairo short string. */
export const SKU_ID_LENGTH = 31;
/** Patterns come from data: bounded, and run on a linear-time engine. */
export const PATTERN_LENGTH = 256;
/** Longest text matched against a pattern. */
export const REFERENCE_LENGTH = 128;

/** Shared by the catalogue file and the interface. */
export const skuFields = {
  id: Type.String({ pattern: '^(?=.*[A-Za-z])[\\x21-\\x7e]{1,31}$', maxLength: SKU_ID_LENGTH }),
  providerId: Type.String({ minLength: 1, maxLength: 64 }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name' }),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  category: OneOf(skuCategories),
  referenceRegexValidation: Type.String({ maxLength: PATTERN_LENGTH }),
  referenceLabel: Type.String({ maxLength: 200 }),
  amountRegexValidation: Type.String({ maxLength: PATTERN_LENGTH }),
  amountLabel: Type.String({ maxLength: 200 }),
  fixedAmount: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Omitted for variable-amount services' })),
  currency: CurrencyName,
  canCheckSkuReference: Type.Boolean({ description: 'Whether the reference can be validated before purchase' }),
  logoUrl: Type.Optional(Type.String({ maxLength: 2000 })),
};

export const Sku = Type.Object(
  { ...skuFields, createdAt: Type.Optional(Timestamp()), updatedAt: Type.Optional(Timestamp()) },
  {
    title: 'Sku',
    examples: [
      {
        id: 'telcel-recarga-100',
        providerId: 'recargas-mx',
        name: 'Recarga Telcel $100',
        category: 'RECARGAS',
        referenceRegexValidation: '^[1-9][0-9]{9}$',
        referenceLabel: 'Número de celular a 10 dígitos',
        amountRegexValidation: '^100(\\.00?)?$',
        amountLabel: 'Monto',
        fixedAmount: 100,
        currency: 'MXN',
        canCheckSkuReference: false,
      },
    ],
  },
);
export type Sku = Static<typeof Sku>;

export const SkuPage = Page(Sku, 'SkuPage');

/** A catalogue file; every example must match its own patterns. */
export const Catalogue = Type.Object({
  version: Type.Literal(1),
  skus: Type.Array(
    Type.Object({
      ...skuFields,
      example: Type.Optional(Type.Object({ reference: Type.String(), amount: Type.String() })),
    }),
    { maxItems: 10_000 },
  ),
});
export type Catalogue = Static<typeof Catalogue>;

export const SkuListQuery = Type.Object({
  ...pageQuery,
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Items to skip; wins over page' }),
  ),
  category: Type.Optional(
    OneOf([...skuCategories, 'TELEFONIA'], { description: 'TELEFONIA is understood as TELEFONICA' }),
  ),
  provider: Type.Optional(Type.String({ maxLength: 64, description: 'Provider id' })),
});

export const CheckReference = Type.Object(
  { reference: Type.String({ maxLength: 1000 }) },
  { examples: [{ reference: '5512345678' }] },
);
export const ReferenceChecked = Type.Object(
  { valid: Type.Boolean(), reason: Type.Optional(Type.String()) },
  { title: 'ReferenceChecked', examples: [{ valid: true }] },
);

export const IdParams = Type.Object({ id: Identifier('Identifier') });
