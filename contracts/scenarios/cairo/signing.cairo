// Stark signatures made inside the tests, because addresses, and with them what is signed, are known there only.
use core::ec::{EcPointTrait, EcStateTrait, stark_curve};
use core::math::{u256_inv_mod, u256_mul_mod_n};
use core::pedersen::pedersen;

// x of k times the generator.
fn times_generator(k: felt252) -> felt252 {
    let generator = EcPointTrait::new_nz(stark_curve::GEN_X, stark_curve::GEN_Y).unwrap();
    let mut state = EcStateTrait::init();
    state.add_mul(k, generator);
    let (x, _) = state.finalize_nz().unwrap().coordinates();
    x
}

// r and s, the same for the same key and hash.
pub fn sign(private_key: felt252, hash: felt252) -> (felt252, felt252) {
    let order: u256 = stark_curve::ORDER.into();
    let modulus: NonZero<u256> = order.try_into().unwrap();
    let secret: u256 = pedersen(private_key, hash).into();
    // Half of it is enough, and surely below the order.
    let k: u256 = secret.low.into();
    let r = times_generator(k.low.into());
    let product = u256_mul_mod_n(r.into(), private_key.into(), modulus);
    let sum = (product + hash.into()) % order;
    let inverse: u256 = u256_inv_mod(k, modulus).unwrap().into();
    let s = u256_mul_mod_n(sum, inverse, modulus);
    (r, s.try_into().unwrap())
}

// The other signature that is as good: a public key is known by its x alone.
pub fn negate(s: felt252) -> felt252 {
    stark_curve::ORDER - s
}
