import { selector, starknetKeccak } from '@svc/starknet';
import { MESSAGE_TRANSMITTER_ADDRESS } from './cctp/constants.ts';
import { burnMessageBytes } from './cctp/message.ts';
import { address, byteArray, u32, u256, type ValuesOf } from './codec.ts';
import { contract } from './contract.ts';
import { event, key } from './event.ts';
import type { Frame } from './frame.ts';
import { action, view } from './function.ts';
import { require } from './panic.ts';
import { map } from './storage.ts';

export const tokenMessengerStorage = {
  /** By domain. */
  remoteTokenMessengers: map('remote_token_messengers', u256),
  /** By token; zero where it cannot be burned. */
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
  await sendMessage(frame, args, messenger, hookData);
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

async function sendMessage(frame: Frame, args: Burn, messenger: bigint, hookData: Uint8Array): Promise<void> {
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

/** The bridge's entrance on this side: burns here what is to be minted elsewhere. */
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
