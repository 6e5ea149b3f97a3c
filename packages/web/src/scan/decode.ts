import { decodeQR } from 'qr/decode.js';

/** Larger pictures decode slowly and no better. */
const LONGEST_SIDE = 1_000;
/** Per picture; the camera delivers the next one soon. */
const TIME_LIMIT_MS = 120;

export function decodePicture(
  picture: CanvasImageSource,
  size: { readonly width: number; readonly height: number },
  canvas: HTMLCanvasElement,
): string | undefined {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(size.width, size.height));
  canvas.width = Math.round(size.width * scale);
  canvas.height = Math.round(size.height * scale);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context || canvas.width === 0 || canvas.height === 0) return undefined;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  try {
    return decodeQR(context.getImageData(0, 0, canvas.width, canvas.height), { timeLimit: TIME_LIMIT_MS });
  } catch {
    return undefined;
  }
}
