import { type RefObject, useEffect, useRef, useState } from 'react';
import { decodePicture } from './decode.ts';

export type CameraState = 'starting' | 'looking' | 'unavailable';

/** Fast enough for a hand-held phone, slow enough for an old one. */
const DECODE_EVERY_MS = 150;

/** Shows the camera and calls `onText` with the first QR code. Unmounting stops the camera. */
export function useCamera(video: RefObject<HTMLVideoElement | null>, onText: (text: string) => void): CameraState {
  const [state, setState] = useState<CameraState>('starting');
  const found = useRef(onText);
  found.current = onText;
  useEffect(() => {
    let isUnmounted = false;
    let stream: MediaStream | undefined;
    let timer: ReturnType<typeof setInterval> | undefined;
    const canvas = document.createElement('canvas');
    const decode = () => {
      const element = video.current;
      if (!element) return;
      const text = decodePicture(element, { width: element.videoWidth, height: element.videoHeight }, canvas);
      if (text === undefined) return;
      clearInterval(timer);
      found.current(text);
    };
    const open = async () => {
      stream = await openCamera();
      if (isUnmounted || !video.current) return stop(stream);
      video.current.srcObject = stream;
      await video.current.play();
      setState('looking');
      timer = setInterval(decode, DECODE_EVERY_MS);
    };
    open().catch(() => {
      if (!isUnmounted) setState('unavailable');
    });
    return () => {
      isUnmounted = true;
      clearInterval(timer);
      stop(stream);
    };
  }, [video]);
  return state;
}

/** Pages without TLS have no `mediaDevices`. */
async function openCamera(): Promise<MediaStream> {
  const { mediaDevices } = navigator as { mediaDevices?: MediaDevices };
  if (!mediaDevices) throw new Error('There is no camera.');
  return mediaDevices.getUserMedia({ video: { facingMode: 'environment' }, audio: false });
}

function stop(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
