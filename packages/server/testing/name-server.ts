import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const HEADER_BYTES = 12;
const TYPE_A = 1;
const IN = 1;
const RESPONSE = 0x8180;
/** A pointer to the name in the question. */
const SAME_NAME = 0xc00c;
const TTL_SECONDS = 0;

/** The IPv4 addresses of a name; undefined keeps silent. */
export type Answers = (name: string) => readonly string[] | undefined;

/** A name server on 127.0.0.1 that knows addresses of IPv4 alone, and ends with the test. Answers where it is. */
export async function startNameServer(answers: Answers): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const addresses = answers(name);
    if (addresses) socket.send(reply(query, end, type === TYPE_A ? addresses : []), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, questionEnd: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(RESPONSE, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...addresses.map(record)]);
}

function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(SAME_NAME, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(IN, 4);
  bytes.writeUInt32BE(TTL_SECONDS, 6);
  bytes.writeUInt16BE(4, 10);
  for (const [place, part] of address.split('.').entries()) bytes.writeUInt8(Number(part), 12 + place);
  return bytes;
}
