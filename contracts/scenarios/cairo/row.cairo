// A scenario is a row of felts, which contracts/scenarios/cairo/encode.ts writes; this reads them.
//
// Nothing is inlined, here and in its neighbours: the test runner loads the whole program for every contract that is
// entered, and keeps it, so the program has to be small.
use core::panics::panic;

// Felts that stand for a place, the first of them.
const PLACE: felt252 = 'a place in a scenario 0';
const RELAYER: felt252 = 'relayer';
const STRANGER: felt252 = 'stranger';
const BOB: felt252 = 'bob';

#[derive(Copy, Drop)]
pub struct Row {
    pub felts: Span<felt252>,
    pub step: felt252,
    pub wallet: felt252,
    pub other: felt252,
    pub token: felt252,
    pub coin: felt252,
    pub svc_class: felt252,
    pub ready_class: felt252,
}

#[generate_trait]
pub impl Reading of ReadingTrait {
    // A felt as it stands in the row.
    #[inline(never)]
    fn next(ref self: Row) -> felt252 {
        match self.felts.pop_front() {
            Option::Some(felt) => *felt,
            Option::None => self.wrong('the row is too short', 0, 0),
        }
    }

    // A felt that may stand for a place.
    #[inline(never)]
    fn felt(ref self: Row) -> felt252 {
        let felt = self.next();
        let place: Option<u8> = (felt - PLACE).try_into();
        match place {
            Option::None => felt,
            Option::Some(place) => self.place(place),
        }
    }

    // In the order of contracts/scenarios/model.ts.
    #[inline(never)]
    fn place(self: Row, place: u8) -> felt252 {
        if place == 0 {
            self.wallet
        } else if place == 1 {
            self.other
        } else if place == 2 {
            self.token
        } else if place == 3 {
            self.coin
        } else if place == 4 {
            RELAYER
        } else if place == 5 {
            STRANGER
        } else if place == 6 {
            BOB
        } else if place == 7 {
            self.svc_class
        } else if place == 8 {
            self.ready_class
        } else {
            self.wrong('unknown place', 0, place.into())
        }
    }

    #[inline(never)]
    fn felts(ref self: Row) -> Array<felt252> {
        let mut left = self.next();
        let mut felts = array![];
        while left != 0 {
            felts.append(self.felt());
            left -= 1;
        };
        felts
    }

    // Which step, what of it, what should be there and what is.
    #[inline(never)]
    fn wrong(self: Row, what: felt252, wanted: felt252, found: felt252) -> core::never {
        panic(array!['step', self.step, what, wanted, found])
    }
}
