//! Choices and assumptions of tests: `selvedge_choose` and `selvedge_assume`.
//!
//! A thread whose assumption does not hold goes no further. The others do: whatever they do then they could have done before it looked at its
//! assumption, so what goes wrong among them is found in such a run as in any other. A strategy that turns races around has to see them, too: what
//! makes the assumption hold may come late in another thread.
//!
//! Invariant: a run in which an assumption did not hold never ends as a deadlock or a livelock, and is counted.

use selvedge_explore::{Access, Kind, Pick};
use selvedge_protocol::{Cause, Out, words};

use crate::arch::site;
use crate::control::{active, with};
use crate::fiber::{Wants, fail};
use crate::posix::objects;
use crate::{point, sys};

crate::entries! {
    selvedge_choose => choose_at;
    selvedge_assume => assume_at;
    selvedge_exclude => exclude_at;
}

/// One of so many values, all of which are tried. In a serial run of an object it is part of what the operation did.
unsafe extern "C" fn choose_at(options: u32) -> u32 {
    if !active() {
        return 0;
    }
    let pc = site::pc();
    match options {
        0 => fail(Cause::NothingToChoose, pc),
        1 => return 0,
        _ => {}
    }
    let access = Access::new(objects::choice(), 0, Kind::Read).after(u64::from(options));
    point::arrive(access, Wants::Nothing, pc);
    with(|control| {
        let chosen = control.pick(options);
        control.run.trace.pick(Pick { chosen, options });
        if let Some(column) = control.run.recorder.column(control.run.current) {
            control.run.recorder.chose(column, chosen);
        }
        control.fiber().spin.effect();
        control.run.trace.access(access);
        point::finish(control, None, false, Some(u64::from(chosen)));
        chosen
    })
}

/// Only runs in which this holds are to be looked at.
unsafe extern "C" fn assume_at(condition: bool) {
    if !condition {
        exclude(site::pc());
        sys::give_up(&words::Complaint::Assumption, 3);
    }
}

/// An assumption does not hold. Comes back outside of a run only.
unsafe extern "C" fn exclude_at() {
    exclude(site::pc());
}

fn exclude(pc: u64) {
    if !active() {
        return;
    }
    if with(|control| control.search.lineup.object.is_some()) {
        fail(Cause::Out(Out::AssumptionOfObject), pc);
    }
    with(|control| control.run.excluded = true);
    loop {
        with(|control| control.fiber().woken = false);
        point::arrive(point::nothing(), Wants::Wake, pc);
    }
}
