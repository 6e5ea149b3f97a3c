import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from '@cantoo/pdf-lib';
import { encodeQR } from 'qr';

export interface Card {
  readonly name: string;
  readonly amount: string;
  readonly code: string;
  readonly claimUrl: string;
}

export interface CardStyle {
  readonly brand: string;
  /** `#rrggbb`, and the colour of text on it. */
  readonly color: string;
  readonly textColor: string;
  readonly paper: Paper;
}

const MM = 72 / 25.4;
export const papers = { a4: [210 * MM, 297 * MM], letter: [612, 792] } as const;
export type Paper = keyof typeof papers;

/** Of a bank card; ten fit on a page of either paper. */
const WIDTH = 85.6 * MM;
const HEIGHT = 53.98 * MM;
const COLUMNS = 2;
const ROWS = 5;
const BAND = 26;
const PADDING = 12;
const QR_SIZE = 84;

export const CARDS_PER_PAGE = COLUMNS * ROWS;

interface Fonts {
  readonly plain: PDFFont;
  readonly bold: PDFFont;
  readonly mono: PDFFont;
}

/** Cards to print and cut, with a QR code of each claim link. */
export async function cardsPdf(
  cards: readonly Card[],
  style: CardStyle,
  onCard: () => void = () => {},
): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  pdf.setTitle(`${style.brand}: ${cards.length} gift cards`);
  const fonts = {
    plain: await pdf.embedFont(StandardFonts.Helvetica),
    bold: await pdf.embedFont(StandardFonts.HelveticaBold),
    mono: await pdf.embedFont(StandardFonts.CourierBold),
  };
  const [pageWidth, pageHeight] = papers[style.paper];
  const [left, top] = [(pageWidth - COLUMNS * WIDTH) / 2, pageHeight - (pageHeight - ROWS * HEIGHT) / 2];
  for (let from = 0; from < cards.length; from += CARDS_PER_PAGE) {
    const page = pdf.addPage([pageWidth, pageHeight]);
    for (const [place, card] of cards.slice(from, from + CARDS_PER_PAGE).entries()) {
      const x = left + (place % COLUMNS) * WIDTH;
      const y = top - (Math.floor(place / COLUMNS) + 1) * HEIGHT;
      draw(page, fonts, style, card, x, y);
      onCard();
    }
  }
  return pdf.save();
}

function draw(page: PDFPage, fonts: Fonts, style: CardStyle, card: Card, x: number, y: number): void {
  const grey = rgb(0.35, 0.35, 0.35);
  page.drawRectangle({ x, y: y + HEIGHT - BAND, width: WIDTH, height: BAND, color: colorOf(style.color) });
  page.drawRectangle({ x, y, width: WIDTH, height: HEIGHT, borderColor: rgb(0.8, 0.8, 0.8), borderWidth: 0.5 });
  const textWidth = WIDTH - QR_SIZE - 3 * PADDING;
  const write = (text: string, font: PDFFont, size: number, offset: number, width: number, color = grey) => {
    const known = printable(text, font);
    const fitted = Math.min(size, (size * width) / Math.max(1, font.widthOfTextAtSize(known, size)));
    page.drawText(known, { x: x + PADDING, y: y + offset, size: fitted, font, color });
  };
  write(style.brand, fonts.bold, 11, HEIGHT - 17, WIDTH - 2 * PADDING, colorOf(style.textColor));
  write(card.name, fonts.plain, 9, HEIGHT - BAND - 20, textWidth);
  write(`${card.amount} USDC`, fonts.bold, 22, HEIGHT - BAND - 48, textWidth, rgb(0.1, 0.1, 0.1));
  write(card.code, fonts.mono, 12, 26, textWidth, rgb(0.1, 0.1, 0.1));
  write(shortUrl(card.claimUrl), fonts.plain, 7, 12, WIDTH - 2 * PADDING);
  const matrix = encodeQR(card.claimUrl, 'raw', { ecc: 'medium', border: 1 });
  page.drawSvgPath(pathOf(matrix), {
    x: x + WIDTH - PADDING - QR_SIZE,
    y: y + HEIGHT - BAND - 6,
    scale: QR_SIZE / matrix.length,
    color: rgb(0, 0, 0),
  });
}

/** One path for a whole code: a rectangle for each run of dark modules in a row. */
export function pathOf(matrix: readonly (readonly boolean[])[]): string {
  return matrix
    .flatMap((row, y) => {
      const runs: string[] = [];
      for (let x = 0; x < row.length; x++) {
        const from = x;
        while (row[x]) x++;
        if (x > from) runs.push(`M${from} ${y}h${x - from}v1h-${x - from}z`);
      }
      return runs;
    })
    .join('');
}

const shortUrl = (url: string) => url.replace(/^https?:\/\//, '');

const letters = new WeakMap<PDFFont, ReadonlySet<number>>();

/** The fonts that every reader has know Western European letters only. */
function printable(text: string, font: PDFFont): string {
  const known = letters.get(font) ?? new Set(font.getCharacterSet());
  letters.set(font, known);
  return [...text].map((letter) => (known.has(letter.codePointAt(0) ?? 0) ? letter : '?')).join('');
}

function colorOf(hex: string) {
  const digits = /^#([0-9a-f]{6})$/i.exec(hex)?.[1] ?? '000000';
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16) / 255;
  return rgb(part(0), part(2), part(4));
}
