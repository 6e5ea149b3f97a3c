import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from './common.ts';

const Color = (description: string) => Type.String({ description });

const BRAND = {
  name: 'Tienda Azul',
  logoUrl: 'https://pay.tienda.example/branding/org_01kxw8yy1c9f4n0v8d2b6h3k5m/9f86d0',
  color: '#0b5a9d',
  textColor: '#ffffff',
  lightAccent: '#0b5a9d',
  darkAccent: '#6d9cc4',
};
const brandFields = {
  name: Nullable(Type.String({ description: "Shown in place of the organisation's name" })),
  logoUrl: Nullable(Type.String({ description: 'Changes with the logo' })),
  color: Nullable(Color('Of buttons')),
  textColor: Nullable(Color('Of text on color: black or white, the more readable of them')),
  lightAccent: Nullable(Color('color as text on light pages, darker where it would be hard to read')),
  darkAccent: Nullable(Color('color as text on dark pages, lighter where it would be hard to read')),
};

/** How an environment of an organisation shows itself to recipients of its gifts. */
export const Brand = Type.Object(brandFields, { title: 'Brand', examples: [BRAND] });
export type Brand = Static<typeof Brand>;

export const Branding = Type.Object(
  { ...brandFields, updatedAt: Nullable(Timestamp()) },
  { title: 'Branding', examples: [{ ...BRAND, updatedAt: '2026-11-02T18:20:11.000Z' }] },
);
export type Branding = Static<typeof Branding>;

export const MAX_LOGO_BYTES = 128 * 1024;
export const MAX_LOGO_PIXELS = 2_048;
/** Base64 of the bytes. */
const MAX_LOGO_LENGTH = Math.ceil(MAX_LOGO_BYTES / 3) * 4;

export const UpdateBranding = Type.Partial(
  Type.Object({
    name: Nullable(Type.String({ minLength: 1, maxLength: 80 })),
    color: Nullable(Type.String({ pattern: '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$', description: 'Such as #0b5a9d' })),
    logo: Nullable(
      Type.String({
        minLength: 1,
        maxLength: MAX_LOGO_LENGTH,
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
        description: 'Base64 of a PNG, JPEG or WebP image of at most 128 KiB and 2,048 pixels a side',
      }),
    ),
  }),
  { minProperties: 1, examples: [{ name: BRAND.name, color: BRAND.color }] },
);
