import type { BridgeSettings } from '../src/bridge/settings.ts';

/** A Solana owner and its USDC token account. */
export const OWNER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
export const OWNER_HEX = '7e8c088760bfde1dddcf32c17f209b8242ee52aaf131facd88d0ea2c6d0b06f2';
export const TOKEN_ACCOUNT = 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B';
/** The 32 bytes as calldata: low half, high half. */
export const TOKEN_ACCOUNT_HALVES = [
  326046992440607538483769016475825969116n,
  281684963577198880146167638033210033102n,
] as const;

/** Asks for a mint to the owner. */
export const HOOK = Buffer.from(`636374702d666f7277617264${'00'.repeat(12)}000000000000002101${OWNER_HEX}`, 'hex');

/** A message attested on Sepolia. */
export const ATTESTED = Buffer.from(
  [
    '000000010000001900000007',
    '010a10ae78572dbfa6c0870f0143f0e7e1dc0d374877ac8937fd6abcfdf99426',
    '04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370',
    '0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '000003e8000003e8',
    '00000001',
    '0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343',
    '000000000000000000000000ac379d268ac099ab699b39c73ce623eca56b7921',
    '00000000000000000000000000000000000000000000000000000000000186a0',
    '03134168ba108079d32b25eaf37f49165c5e831df4c3b099daf09a8ee41d86ff',
    '0000000000000000000000000000000000000000000000000000000000000118',
    '000000000000000000000000000000000000000000000000000000000000008c',
    '0000000000000000000000000000000000000000000000000000000002679e55',
  ].join(''),
  'hex',
);

/** Settings of a new sandbox. */
export const testSettings: BridgeSettings = {
  indexedSeconds: 2,
  fastSeconds: 8,
  standardSeconds: 28_800,
  forwardSeconds: 2,
  fastFeePerMillion: 130,
  forwardFee: 0,
  requestsPerSecond: 35,
};
