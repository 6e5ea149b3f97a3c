import { type ChangeEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { usePage } from '../steps/page-context.ts';
import { decodePicture } from './decode.ts';
import { useCamera } from './use-camera.ts';

export interface ScannerProps {
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

/** Reads a QR code from the camera or a picture. Nothing leaves the device. */
export function ScannerView({ onText, onClose }: ScannerProps): ReactNode {
  const { texts } = usePage();
  const video = useRef<HTMLVideoElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [hasNoCode, setNoCode] = useState(false);
  const camera = useCamera(video, onText);
  useEffect(() => heading.current?.focus(), []);
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    if (!file) return;
    const text = await readFile(file);
    setNoCode(text === undefined);
    if (text !== undefined) onText(text);
  };
  const message = { starting: texts.scan.starting, looking: texts.scan.aim, unavailable: texts.scan.noCamera }[camera];
  return (
    <section className="card scanner" aria-labelledby="scan-title">
      <h2 id="scan-title" ref={heading} tabIndex={-1}>
        {texts.scan.title}
      </h2>
      <p role="status">{message}</p>
      <video ref={video} hidden={camera === 'unavailable'} muted playsInline tabIndex={-1} />
      <label className="file">
        {texts.scan.picture}
        <input type="file" accept="image/*" onChange={(event) => void choose(event)} />
      </label>
      <p className="feedback wrong" role="status">
        {hasNoCode ? texts.scan.noCode : ''}
      </p>
      <button type="button" className="quiet" onClick={onClose}>
        {texts.scan.stop}
      </button>
    </section>
  );
}

async function readFile(file: File): Promise<string | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined);
  return picture && decodePicture(picture, picture, document.createElement('canvas'));
}
