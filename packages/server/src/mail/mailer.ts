/** A message as it is sent, the same at every attempt. */
export interface Letter {
  /** Becomes the Message-ID, by which receivers know a repetition. */
  readonly id: string;
  readonly date: Date;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What became of one attempt. The reason of a delay goes into the log, so it says nothing of the letter or its recipient. */
export type Delivery =
  | { readonly outcome: 'SENT' }
  | { readonly outcome: 'REFUSED'; readonly reason: string }
  | { readonly outcome: 'DELAYED'; readonly reason: string };

export interface Mailer {
  send(letter: Letter, signal: AbortSignal): Promise<Delivery>;
  /** Closes connections that wait for more letters. */
  close(): void;
}
