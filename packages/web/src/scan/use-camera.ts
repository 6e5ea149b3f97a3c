import { type RefObject, useEffect, useRef, useState } from 'react';
import { decodePicture } from './decode.ts';

export type CameraState = 'starting' | 'looking' | 'unavailable';

/** Between two looks: quick enough for a hand, slow enough for an old phone. */
const LOOK_EVERY_MS = 150;

/** Shows the camera in a video element and calls `onText` with the first QR code that is seen. The camera is off as soon as this is gone. */
export function useCamera(video: RefObject<HTMLVideoElement | null>, onText: (text: string) => void): CameraState {
  const [state, setState] = useState<CameraState>('starting');
  const found = useRef(onText);
  found.current = onText;
  useEffect(() => {
    let isGone = false;
    let stream: MediaStream | undefined;
    let timer: ReturnType<typeof setInterval> | undefined;
    const canvas = document.createElement('canvas');
    const look = () => {
      const shown = video.current;
      if (!shown) return;
      const text = decodePicture(shown, { width: shown.videoWidth, height: shown.videoHeight }, canvas);
      if (text === undefined) return;
      clearInterval(timer);
      found.current(text);
    };
    const open = async () => {
      stream = await openCamera();
      if (isGone || !video.current) return stop(stream);
      video.current.srcObject = stream;
      await video.current.play();
      setState('looking');
      timer = setInterval(look, LOOK_EVERY_MS);
    };
    open().catch(() => {
      if (!isGone) setState('unavailable');
    });
    return () => {
      isGone = true;
      clearInterval(timer);
      stop(stream);
    };
  }, [video]);
  return state;
}

/** Pages without TLS have no camera at all. */
async function openCamera(): Promise<MediaStream> {
  const { mediaDevices } = navigator as { mediaDevices?: MediaDevices };
  if (!mediaDevices) throw new Error('There is no camera.');
  return mediaDevices.getUserMedia({ video: { facingMode: 'environment' }, audio: false });
}

function stop(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
