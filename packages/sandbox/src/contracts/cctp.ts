import { selector, starknetKeccak } from '@svc/starknet';
import { address, byteArray, require, toBytes, u32, u256, type ValuesOf } from './codec.ts';
import { action, contract, event, type Frame, key, map, view } from './contract.ts';

/** Mainnet addresses. */
export const TOKEN_MESSENGER_ADDRESS = 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an;
export const MESSAGE_TRANSMITTER_ADDRESS = 0x02ebb5777b6dd8b26ea11d68fdf1d2c85cd2099335328be845a28c77a8aef183n;

export const STARKNET_DOMAIN = 25n;
export const SOLANA_DOMAIN = 5n;

const VERSION = 1n;

export interface BurnMessage {
  readonly burnToken: bigint;
  readonly mintRecipient: bigint;
  readonly amount: bigint;
  readonly messageSender: bigint;
  readonly maxFee: bigint;
  readonly hookData: Uint8Array;
}

export interface BridgeMessage {
  readonly sourceDomain: bigint;
  readonly destinationDomain: bigint;
  readonly sender: bigint;
  readonly recipient: bigint;
  readonly destinationCaller: bigint;
  readonly minFinalityThreshold: bigint;
  readonly body: Uint8Array;
}

type Field = readonly [value: bigint, bytes: number];

function concatenate(fields: readonly Field[], tail: Uint8Array): Uint8Array {
  const parts = fields.map(([value, bytes]) => {
    const part = toBytes(value, bytes);
    if (!part) throw new RangeError('A field of a bridge message does not fit.');
    return part;
  });
  return Uint8Array.from([...parts, tail].flatMap((part) => [...part]));
}

/** The attestation service fills in fee executed and expiration block. */
export function burnMessageBytes(message: BurnMessage): Uint8Array {
  return concatenate(
    [
      [VERSION, 4],
      [message.burnToken, 32],
      [message.mintRecipient, 32],
      [message.amount, 32],
      [message.messageSender, 32],
      [message.maxFee, 32],
      [0n, 32],
      [0n, 32],
    ],
    message.hookData,
  );
}

/** The attestation service fills in nonce and executed finality. */
export function bridgeMessageBytes(message: BridgeMessage): Uint8Array {
  return concatenate(
    [
      [VERSION, 4],
      [message.sourceDomain, 4],
      [message.destinationDomain, 4],
      [0n, 32],
      [message.sender, 32],
      [message.recipient, 32],
      [message.destinationCaller, 32],
      [message.minFinalityThreshold, 4],
      [0n, 4],
    ],
    message.body,
  );
}

/** As deployed on mainnet. */
const MAX_BODY_BYTES = 8_192;

const MessageSent = event('MessageSent', { message: byteArray });

const sendMessage = action(
  'send_message',
  {
    destination_domain: u32,
    recipient: u256,
    destination_caller: u256,
    min_finality_threshold: u32,
    message_body: byteArray,
  },
  (frame, args) => {
    require(args.destination_domain !== STARKNET_DOMAIN, 'Domain is local domain');
    require(args.message_body.length <= MAX_BODY_BYTES, 'Message body exceeds max size');
    require(args.recipient !== 0n, 'Recipient must be non-zero');
    const message = bridgeMessageBytes({
      sourceDomain: STARKNET_DOMAIN,
      destinationDomain: args.destination_domain,
      sender: frame.caller,
      recipient: args.recipient,
      destinationCaller: args.destination_caller,
      minFinalityThreshold: args.min_finality_threshold,
      body: args.message_body,
    });
    MessageSent.emit(frame, { message });
  },
);

export const messageTransmitter = contract({
  name: 'MessageTransmitterV2',
  classHash: starknetKeccak('svc sandbox message transmitter'),
  functions: [
    sendMessage,
    view('get_local_domain', {}, u32, () => STARKNET_DOMAIN),
    view('get_version', {}, u32, () => 1n),
  ],
  events: [MessageSent],
});

export const tokenMessengerStorage = {
  remoteTokenMessengers: map('remote_token_messengers', u256),
  /** By token; zero where burning is not supported. */
  burnLimits: map('burn_limits_per_message', u256),
};

const DepositForBurn = event('DepositForBurn', {
  burn_token: key(address),
  amount: u256,
  depositor: key(address),
  mint_recipient: u256,
  destination_domain: u32,
  destination_token_messenger: u256,
  destination_caller: u256,
  max_fee: u256,
  min_finality_threshold: u32,
  hook_data: byteArray,
});

const burnParams = {
  amount: u256,
  destination_domain: u32,
  mint_recipient: u256,
  burn_token: address,
  destination_caller: u256,
  max_fee: u256,
  min_finality_threshold: u32,
};
type Burn = ValuesOf<typeof burnParams>;

async function burn(frame: Frame, args: Burn, hookData: Uint8Array): Promise<void> {
  require(args.amount > 0n, 'Amount must be nonzero');
  require(args.mint_recipient !== 0n, 'Mint recipient must be non-zero');
  require(args.max_fee < args.amount, 'Max fee must be less than amt');
  await takeAndBurn(frame, args.burn_token, args.amount);
  const messenger = await tokenMessengerStorage.remoteTokenMessengers.read(frame, args.destination_domain);
  await sendBurnMessage(frame, args, messenger, hookData);
  DepositForBurn.emit(frame, {
    ...args,
    depositor: frame.caller,
    destination_token_messenger: messenger,
    hook_data: hookData,
  });
}

async function takeAndBurn(frame: Frame, token: bigint, amount: bigint): Promise<void> {
  const limit = await tokenMessengerStorage.burnLimits.read(frame, token);
  require(limit > 0n, 'Burn token not supported');
  require(amount <= limit, 'Burn amount exceeds limit');
  const taken = [frame.caller, frame.address, ...u256.write(amount)];
  await frame.call({ to: token, selector: selector('transfer_from'), calldata: taken });
  await frame.call({ to: token, selector: selector('burn'), calldata: u256.write(amount) });
}

async function sendBurnMessage(frame: Frame, args: Burn, messenger: bigint, hookData: Uint8Array): Promise<void> {
  const body = burnMessageBytes({
    burnToken: args.burn_token,
    mintRecipient: args.mint_recipient,
    amount: args.amount,
    messageSender: frame.caller,
    maxFee: args.max_fee,
    hookData,
  });
  const calldata = [
    args.destination_domain,
    ...u256.write(messenger),
    ...u256.write(args.destination_caller),
    args.min_finality_threshold,
    ...byteArray.write(body),
  ];
  await frame.call({ to: MESSAGE_TRANSMITTER_ADDRESS, selector: selector('send_message'), calldata });
}

export const tokenMessenger = contract({
  name: 'TokenMessengerMinterV2',
  classHash: starknetKeccak('svc sandbox token messenger'),
  functions: [
    action('deposit_for_burn', burnParams, (frame, args) => burn(frame, args, new Uint8Array())),
    action('deposit_for_burn_with_hook', { ...burnParams, hook_data: byteArray }, (frame, { hook_data, ...args }) => {
      require(hook_data.length > 0, 'Hook data is empty');
      return burn(frame, args, hook_data);
    }),
    view('local_message_transmitter', {}, address, () => MESSAGE_TRANSMITTER_ADDRESS),
    view('message_body_version', {}, u32, () => 1n),
    view('remote_token_messenger', { domain: u32 }, u256, (frame, { domain }) =>
      tokenMessengerStorage.remoteTokenMessengers.read(frame, domain),
    ),
  ],
  events: [DepositForBurn],
});
