import { starknetKeccak } from '@svc/starknet';
import { STARKNET_DOMAIN } from './cctp/constants.ts';
import { bridgeMessageBytes } from './cctp/message.ts';
import { byteArray, u32, u256 } from './codec.ts';
import { contract } from './contract.ts';
import { event } from './event.ts';
import { action, view } from './function.ts';
import { require } from './panic.ts';

/** As deployed; a longer hook has no use. */
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

/** The bridge's way out: what it emits is what an attestation service signs. */
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
