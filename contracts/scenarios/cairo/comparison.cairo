// What came of a step, and what should come of it: the answer or the reason, then the events of each contract.
use starknet::{SyscallResult, testing};
use super::row::{ReadingTrait, Row};

const SUCCEEDS: felt252 = 1;
const REVERTS: felt252 = 2;
const REFUSED: felt252 = 3;

pub type Answer = SyscallResult<Span<felt252>>;

#[generate_trait]
pub impl Comparing of ComparingTrait {
    #[inline(never)]
    fn compare(ref self: Row, answer: Answer, refused: bool) {
        let expected = self.next();
        match answer {
            Result::Ok(felts) => {
                self.same('outcome', expected, SUCCEEDS);
                let wanted = self.felts();
                self.same_felts('result', wanted.span(), felts);
            },
            Result::Err(felts) => {
                let reason = *felts.at(0);
                if expected == SUCCEEDS {
                    self.wrong('reverts', 'no', reason);
                } else if expected == REVERTS || expected == REFUSED {
                    let found = if refused {
                        REFUSED
                    } else {
                        REVERTS
                    };
                    self.same('refused', expected, found);
                    let wanted = self.next();
                    self.same('reason', wanted, reason);
                }
            },
        }
        self.compare_events();
    }

    #[inline(never)]
    fn compare_events(ref self: Row) {
        let mut left = self.next();
        while left != 0 {
            let from = self.felt();
            let keys = self.felts();
            let data = self.felts();
            match testing::pop_log_raw(from.try_into().unwrap()) {
                Option::Some((
                    found_keys, found_data,
                )) => {
                    self.same_felts('event keys', keys.span(), found_keys);
                    self.same_felts('event data', data.span(), found_data);
                },
                Option::None => self.wrong('no event', *keys.at(0), 0),
            }
            left -= 1;
        };
        self.no_more_events(self.wallet);
        self.no_more_events(self.other);
        self.no_more_events(self.token);
        self.no_more_events(self.coin);
    }

    #[inline(never)]
    fn no_more_events(ref self: Row, from: felt252) {
        match testing::pop_log_raw(from.try_into().unwrap()) {
            Option::Some((keys, _)) => self.wrong('unexpected event', 0, *keys.at(0)),
            Option::None => {},
        }
    }

    #[inline(never)]
    fn same_felts(ref self: Row, what: felt252, wanted: Span<felt252>, mut found: Span<felt252>) {
        self.same(what, wanted.len().into(), found.len().into());
        for one in wanted {
            self.same(what, *one, *found.pop_front().unwrap());
        }
    }

    #[inline(never)]
    fn same(ref self: Row, what: felt252, wanted: felt252, found: felt252) {
        if wanted != found {
            self.wrong(what, wanted, found);
        }
    }
}
