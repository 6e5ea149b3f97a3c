//! Signing inside the tests, so that they depend on no address that was computed elsewhere.
use core::ec::{EcPointTrait, EcStateTrait, stark_curve};
use core::math::{u256_inv_mod, u256_mul_mod_n};

/// The x of a private key's point: its public key.
pub fn public_key(private_key: felt252) -> felt252 {
    let generator = EcPointTrait::new_nz(stark_curve::GEN_X, stark_curve::GEN_Y).unwrap();
    let mut state = EcStateTrait::init();
    state.add_mul(private_key, generator);
    let (x, _) = state.finalize_nz().unwrap().coordinates();
    x
}

fn order() -> u256 {
    stark_curve::ORDER.into()
}

/// ECDSA with a nonce that is a hash of key and message: good for tests, and for nothing else.
pub fn sign(private_key: felt252, hash: felt252) -> (felt252, felt252) {
    let seed: u256 = core::pedersen::pedersen(private_key, hash).into();
    let k: felt252 = seed.low.into();
    let modulus: NonZero<u256> = order().try_into().unwrap();
    let r = public_key(k);
    let sum = (u256_mul_mod_n(r.into(), private_key.into(), modulus) + hash.into()) % order();
    let inverse: u256 = u256_inv_mod(k.into(), modulus).unwrap().into();
    (r, u256_mul_mod_n(sum, inverse, modulus).try_into().unwrap())
}

/// The other s that is as good.
pub fn negated(s: felt252) -> felt252 {
    (order() - s.into()).try_into().unwrap()
}

/// A message, and the r of its signature whose s is one.
pub fn signed_with_one(private_key: felt252) -> (felt252, felt252) {
    let k = 0x5eed;
    let modulus: NonZero<u256> = order().try_into().unwrap();
    let r = public_key(k);
    let hash = (k.into() + order() - u256_mul_mod_n(r.into(), private_key.into(), modulus)) % order();
    (hash.try_into().unwrap(), r)
}
