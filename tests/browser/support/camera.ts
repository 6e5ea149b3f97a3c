import { encodeQR } from 'qr';

/** A script that gives a page a camera in front of a QR code. The page finds it as `camera`. */
export function cameraShowing(text: string): string {
  const rows = JSON.stringify(encodeQR(text, 'raw', { border: 4 }).map((row) => row.map(Number)));
  return `
    globalThis.camera = { opened: 0 };
    navigator.mediaDevices.getUserMedia = async () => {
      const rows = ${rows}, side = 8, canvas = document.createElement('canvas');
      canvas.width = canvas.height = rows.length * side;
      const paint = canvas.getContext('2d');
      const draw = () => rows.forEach((row, y) => row.forEach((dark, x) => {
        paint.fillStyle = dark ? '#000' : '#fff';
        paint.fillRect(x * side, y * side, side, side);
      }));
      draw();
      setInterval(draw, 50);
      camera.opened += 1;
      camera.stream = canvas.captureStream(20);
      return camera.stream;
    };`;
}
