import type { Handlers } from '../http/call.ts';
import { createGift } from './management/create.ts';
import { createGiftsBulk } from './management/create-bulk.ts';
import { deleteGift } from './management/delete.ts';
import type { GiftParts } from './management/parts.ts';
import { getGift, getGiftUsage, listGifts } from './management/read.ts';
import { getGiftRedeem, listGiftRedeems } from './management/read-redeems.ts';
import { updateGift } from './management/update.ts';

type GiftOperation =
  | 'createGift'
  | 'createGiftsBulk'
  | 'listGifts'
  | 'getGift'
  | 'updateGift'
  | 'deleteGift'
  | 'getGiftUsage'
  | 'listGiftRedeems'
  | 'getGiftRedeem';

/** What an organisation does with its gifts; those who redeem them come in elsewhere. */
export function giftHandlers(parts: GiftParts): Pick<Handlers, GiftOperation> {
  const { db, now = Date.now } = parts;
  return {
    createGift: (call) => createGift(parts, call),
    createGiftsBulk: (call) => createGiftsBulk(parts, call),
    listGifts: ({ caller, query }) => listGifts(db, caller, query),
    getGift: ({ caller, params }) => getGift(db.reads, caller, params.id),
    updateGift: (call) => updateGift(parts, call),
    deleteGift: (call) => deleteGift(call),
    getGiftUsage: ({ caller }) => getGiftUsage(db, caller, now()),
    listGiftRedeems: ({ caller, query }) => listGiftRedeems(db, caller, query),
    getGiftRedeem: ({ caller, params }) => getGiftRedeem(db.reads, caller, params.id),
  };
}
