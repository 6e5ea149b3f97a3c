import { type Call, selector } from '@svc/starknet';
import { ID_BITS, idFromBits, idToBits } from '../util/ids.ts';

/**
 * Names on chain what a payment is for: a call of `balanceOf` right after the payment's own, with the ids as the address. It moves
 * nothing, every token has it, and every node shows the calldata. After a restore it tells what was paid.
 */
export interface PaymentMarker {
  readonly kind: MarkedKind;
  /** Of the redeem, or of the refunded purchase. */
  readonly id: string;
  readonly giftId?: string | undefined;
}

export type MarkedKind = 'payout' | 'burn' | 'refund';

/** Above both ids there is room for 0 to 6: an address is below 2²⁵¹ − 256. */
const KINDS: readonly (MarkedKind | undefined)[] = [undefined, 'payout', 'burn', 'refund'];
const MARKER = selector('balanceOf');

/** No call where an id has another form. */
export function markerCalls(token: bigint, { kind, id, giftId }: PaymentMarker): Call[] {
  const [own, gift] = [idToBits(id), giftId === undefined ? 0n : idToBits(giftId)];
  if (own === undefined || gift === undefined) return [];
  const felt = (((BigInt(KINDS.indexOf(kind)) << ID_BITS) | gift) << ID_BITS) | own;
  return [{ to: token, selector: MARKER, calldata: [felt] }];
}

export function readMarker({ selector: called, calldata }: Call): PaymentMarker | undefined {
  const [felt, ...rest] = calldata;
  if (called !== MARKER || felt === undefined || rest.length > 0) return undefined;
  const kind = KINDS[Number(felt >> (2n * ID_BITS))];
  const own = BigInt.asUintN(Number(ID_BITS), felt);
  const gift = BigInt.asUintN(Number(ID_BITS), felt >> ID_BITS);
  if (kind === undefined || own === 0n || (kind === 'refund') !== (gift === 0n)) return undefined;
  if (kind === 'refund') return { kind, id: idFromBits('txn', own) };
  return { kind, id: idFromBits('rdm', own), giftId: idFromBits('gift', gift) };
}

/** A transfer of the account, or a burn, as its calls say. */
export interface FoundPayment {
  readonly token: bigint;
  readonly to: bigint;
  readonly amount: bigint;
  readonly marker: PaymentMarker | undefined;
}

const TRANSFER = selector('transfer');
const APPROVE = selector('approve');
const WORD_BITS = 128n;

/** The marker follows the transfer; of a burn, the burn that follows the approval. */
export function paymentsIn(calls: readonly Call[]): FoundPayment[] {
  return calls.flatMap(({ to: token, selector: called, calldata: [to, low, high, ...rest] }, index) => {
    const takes = called === TRANSFER ? 1 : called === APPROVE && calls[index + 1]?.to === to ? 2 : undefined;
    if (takes === undefined || to === undefined || low === undefined || high === undefined || rest.length > 0)
      return [];
    const next = calls[index + takes];
    const marker = next?.to === token ? readMarker(next) : undefined;
    return [{ token, to, amount: low + (high << WORD_BITS), marker }];
  });
}
