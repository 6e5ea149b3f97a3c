import { type Static, Type } from 'typebox';
import { ChainTokenName } from './wallet.ts';

const strict = { additionalProperties: false };
const Hash = Type.String({ pattern: '^0x[0-9a-fA-F]{1,64}$', description: '0x and hexadecimal digits' });
const HttpUrl = Type.String({ pattern: '^https?://', maxLength: 2_000 });

/** A Starknet of the operator's own, which STARKNET_NETWORK names by the path of its file. */
export const NetworkFile = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$', description: 'In GET /config, as apps see it' }),
    chainId: Type.String({ pattern: '^(0x[0-9a-fA-F]{1,64}|[A-Z0-9_]{1,31})$', description: 'In hex, or as text' }),
    tokens: Type.Array(
      Type.Object(
        { token: ChainTokenName, address: Hash, decimals: Type.Integer({ minimum: 0, maximum: 18 }) },
        strict,
      ),
      { maxItems: 50 },
    ),
    classes: Type.Object({ svc: Hash, ready: Type.Optional(Hash) }, strict),
    explorer: Type.Optional(Type.String({ pattern: '^https?://[^{}]*\\{hash\\}[^{}]*$', maxLength: 2_000 })),
    bridge: Type.Optional(
      Type.Object({ url: HttpUrl, tokenMessenger: Hash, messageTransmitter: Hash, usdcMint: Type.String() }, strict),
    ),
    pool: Type.Optional(Type.Object({ address: Hash, token: ChainTokenName }, strict)),
  },
  { title: 'NetworkFile', ...strict },
);
export type NetworkFile = Static<typeof NetworkFile>;
