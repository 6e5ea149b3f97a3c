import { ApiError } from '@svc/protocol';

/** `rate_limited`, with the time after which it is worth trying again. */
export class TooManyRequests extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('rate_limited');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
