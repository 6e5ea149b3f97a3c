/** A session key as `createSessionKey` makes it. Keep it where your app keeps its own things: the service does not store it. */
export interface Session {
  /** On the Stark curve, `0x…`. */
  readonly publicKey: string;
  /** Opened by the `encryptKey` that it was made with. */
  readonly encryptedPrivateKey: string;
  /** Unix seconds. */
  readonly validUntil: number;
}
