//! Which signatures there are.
use core::ec::stark_curve;
use core::ecdsa::check_ecdsa_signature;

/// `session_key, r, s, valid_until`.
#[derive(Copy, Drop)]
pub struct SessionSignature {
    pub session_key: felt252,
    pub r: felt252,
    pub s: felt252,
    pub valid_until: u64,
}

/// (r, s) and (r, -s) are both good, as a key is known by its x alone. Neither is refused: half of what common signers
/// write has the larger s, and a signature is nowhere an identity here. What stops a replay is a nonce, which is under
/// the signature: the transaction's own, or the outside execution's. Numbers from the curve's order on would be taken
/// for what is left of them; no signer writes them, so they are refused.
pub fn is_signed_by(key: felt252, hash: felt252, r: felt252, s: felt252) -> bool {
    is_below_order(r) && is_below_order(s) && check_ecdsa_signature(hash, key, r, s)
}

fn is_below_order(number: felt252) -> bool {
    let order: u256 = stark_curve::ORDER.into();
    number.into() < order
}

/// The owner signs with two felts, a session with four: neither can be read as the other.
pub fn session_signature(signature: Span<felt252>) -> Option<SessionSignature> {
    if signature.len() != 4 {
        return Option::None;
    }
    let valid_until: u64 = (*signature.at(3)).try_into()?;
    Option::Some(
        SessionSignature { session_key: *signature.at(0), r: *signature.at(1), s: *signature.at(2), valid_until }
    )
}
