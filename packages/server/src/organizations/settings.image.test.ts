import { describe, expect, it } from 'vitest';
import { readImage } from './settings.ts';

// One pixel, and 3 x 2 pixels.
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const JPEG = `ffd8ffe000104a46494600010100000100010000ffc0000b080002000301011100ffda0008010100003f00d2ffd9`;
const webp = (chunk: string, body: string) => {
  const bytes = Buffer.concat([Buffer.from('WEBP'), Buffer.from(chunk), Buffer.from(body, 'hex')]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([Buffer.from('RIFF'), size, bytes]);
};
const images = {
  png: Buffer.from(PNG, 'base64'),
  jpeg: Buffer.from(JPEG, 'hex'),
  lossy: webp('VP8 ', '0a000000000000 9d012a 0300 0200 0000'.replaceAll(' ', '')),
  lossless: webp('VP8L', '0a000000 2f 02400000 000000000000'.replaceAll(' ', '')),
  extended: webp('VP8X', '0a000000 00000000 020000 010000 0000'.replaceAll(' ', '')),
};

describe('an image', () => {
  it.each([
    ['png', 'image/png', 1, 1],
    ['jpeg', 'image/jpeg', 3, 2],
    ['lossy', 'image/webp', 3, 2],
    ['lossless', 'image/webp', 3, 2],
    ['extended', 'image/webp', 3, 2],
  ] as const)('%s is known by its bytes', (name, type, width, height) => {
    expect(readImage(images[name])).toEqual({ type, width, height });
  });

  it.each(Object.entries(images))('%s that is cut off, or has something behind it, is none', (_, bytes) => {
    expect(readImage(bytes.subarray(0, -1))).toBeUndefined();
    expect(readImage(Buffer.concat([bytes, Buffer.from('<script>')]))).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['GIF', 'GIF89a\u0001\u0000\u0001\u0000'],
  ])('%s is none', (_, text) => expect(readImage(Buffer.from(text))).toBeUndefined());
});
