import { starknetKeccak } from '@svc/starknet';

export interface PredeployedAccount {
  readonly label: string;
  /** Public: derived from the label, protects sandbox funds only. */
  readonly privateKey: bigint;
  readonly publicKey: bigint;
  readonly address: bigint;
}

/** Precomputed: deriving these takes a third of a second at start. */
const derived = {
  sequencer: {
    publicKey: 0x5559fbc53b77f9c5b4598b1f1c44628adff2b8f9154517d29d54f5d1f4aff59n,
    address: 0x31a15ae7fca67b5b02714d5547f42eaf695c13853b5225c1001d9e4771a9876n,
  },
  'relayer 1': {
    publicKey: 0x5833b14793f87d67145804ca0a470a6325644195c07300cc8a9a838eea521e7n,
    address: 0x5d94c75ca8a39504429230cd419b3937c45170a8077c14a773cd44984bc245dn,
  },
  'relayer 2': {
    publicKey: 0x7c51894a149e98c7cf993d271f3a4473d1c48deeca2a7fee8f74b19df5b760n,
    address: 0x203fe318c14ffae4b695f1e999265c17d427f8344d9bfae6210763ec288608an,
  },
  'relayer 3': {
    publicKey: 0x63207108cc04dd2b5eca6f074211bedd417c7c9ad205a41002986f091916d7bn,
    address: 0xd04fd59b215cacaa9af520ebe5f5425d6100e76cb037c5c1d5b6e385b75119n,
  },
  'relayer 4': {
    publicKey: 0x6b35845432177dc9145d16b9837771a0d6834681bcdad592044db7ddf3e2d8en,
    address: 0x631b9514194c532003b641bfcf83f5f1abec983d0ace828627112337ce878bbn,
  },
  manager: {
    publicKey: 0x519f23dd6ba0720bf5f2281dc64dd330d7b2499ef0f83e3bff268a910e86ef6n,
    address: 0x2c8fb33f44261d3e7ff94dac0ca7829c3891bf47d4949370836933d4a7ce7e5n,
  },
  faucet: {
    publicKey: 0x79f0f6ad242c0ebf3b2a78c80794a2d00190f10a94bac581bf07c60e63d8efan,
    address: 0x641a3bfec390468e28d152db54c0bae8bdf1b7983c31734a480db7093f824c4n,
  },
} as const;

type Label = keyof typeof derived;

const account = (label: Label): PredeployedAccount => ({ label, privateKey: privateKeyOf(label), ...derived[label] });

export function privateKeyOf(label: string): bigint {
  return starknetKeccak(`svc sandbox ${label}`);
}

export const predeployed = {
  /** Receives the fees. */
  sequencer: account('sequencer'),
  relayers: [account('relayer 1'), account('relayer 2'), account('relayer 3'), account('relayer 4')],
  manager: account('manager'),
  /** May mint every token. */
  faucet: account('faucet'),
} as const;
