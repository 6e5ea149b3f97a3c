// Calls and outside executions, as they stand in a row, signed.
use starknet::account::Call;
use super::row::{ReadingTrait, Row};
use super::signing::{negate, sign};
use super::snip12::{execution_hash, message_hash};

#[generate_trait]
pub impl Calling of CallingTrait {
    #[inline(never)]
    fn one_call(ref self: Row) -> Call {
        let to = self.felt();
        let selector = self.next();
        let signed = self.next() != 0;
        let calldata = if signed {
            self.outside_execution()
        } else {
            self.felts()
        };
        Call { to: to.try_into().unwrap(), selector, calldata: calldata.span() }
    }

    #[inline(never)]
    fn calls(ref self: Row) -> Array<Call> {
        let mut left = self.next();
        let mut calls = array![];
        while left != 0 {
            calls.append(self.one_call());
            left -= 1;
        };
        calls
    }

    // The calldata of execute_from_outside_v2: what is sent, and a signature for it or for something else.
    fn outside_execution(ref self: Row) -> Array<felt252> {
        let (mut calldata, mut message) = self.execution();
        if self.next() != 0 {
            let (_, instead) = self.execution();
            message = instead;
        }
        let chain_id = self.next();
        let account = self.felt();
        let signature = self.signature(message_hash(message, chain_id, account));
        signature.serialize(ref calldata);
        calldata
    }

    #[inline(never)]
    fn execution(ref self: Row) -> (Array<felt252>, felt252) {
        let caller = self.felt();
        let nonce = self.next();
        let after = self.next();
        let before = self.next();
        let calls = self.calls();
        let mut calldata = array![caller, nonce, after, before];
        calldata.append_span(serialized(calls.span()).span());
        (calldata, execution_hash(caller, nonce, after, before, calls.span()))
    }

    // For each signer: who signs, the key that the list names, and what becomes of s. Then how many felts follow.
    #[inline(never)]
    fn signature(ref self: Row, hash: felt252) -> Array<felt252> {
        let mut signature = array![];
        let mut left = self.next();
        while left != 0 {
            let (r, s) = sign(self.next(), hash);
            signature.append(self.next());
            signature.append(r);
            let shape = self.next();
            let s = if shape == 1 {
                negate(s)
            } else if shape == 5 {
                0
            } else if shape == 6 {
                -1
            } else {
                s
            };
            signature.append(s);
            left -= 1;
        };
        let mut tail = self.next();
        while tail != 0 {
            signature.append(0);
            tail -= 1;
        };
        signature
    }
}

pub fn serialized(calls: Span<Call>) -> Array<felt252> {
    let mut felts = array![];
    calls.serialize(ref felts);
    felts
}
