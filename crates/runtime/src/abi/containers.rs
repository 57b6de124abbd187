//! `std::list`, `std::map`, `std::set` and their relatives: the functions that link and unlink their nodes lie in libstdc++, which is not instrumented. The
//! objects that are linked here call these functions instead.
//!
//! Invariant: what is announced is what the library touches. Of a function that changes links, the words that have changed when it returns are announced as
//! written; one that was written with the value that it had is left out.
//!
//! The layouts are those of libstdc++ since version 4.5 (`_List_node_base`, `_Rb_tree_node_base`).

use std::ffi::c_void;

use crate::abi::plain::announce;
use crate::control::active;
use crate::posix::real;

/// A node of a list: the next one and the one before it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct Link {
    next: *mut Link,
    before: *mut Link,
}

/// A node of a tree, or its header, whose parent is the root and whose children are the first and the last node.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct Node {
    colour: u32,
    parent: *mut Node,
    left: *mut Node,
    right: *mut Node,
}

/// The height of a tree that is balanced and fits into memory; whoever finds a higher one looks at something else.
const HEIGHT: usize = 128;
/// How many generations below the way to the root rotations reach.
const BELOW: usize = 3;

fn read<T>(word: *const T) {
    announce(word.cast(), size_of::<T>(), false);
}

/// # Safety
/// The word is there.
unsafe fn wrote<T: PartialEq>(word: *const T, was: &T) {
    // SAFETY: the caller says that it is there.
    if unsafe { *word != *was } {
        announce(word.cast(), size_of::<T>(), true);
    }
}

/// Announces what a function does to nodes of lists.
///
/// # Safety
/// The nodes are there, before and after it.
unsafe fn change_links(mut nodes: Vec<*mut Link>, function: impl FnOnce()) {
    nodes.sort_unstable();
    nodes.dedup();
    // SAFETY: the caller says that the nodes are there.
    let before: Vec<Link> = nodes.iter().map(|&node| unsafe { *node }).collect();
    function();
    for (&node, was) in nodes.iter().zip(&before) {
        // SAFETY: the nodes are still there after the function: the caller says so.
        unsafe {
            wrote(&raw const (*node).next, &was.next);
            wrote(&raw const (*node).before, &was.before);
        }
    }
}

/// Puts a node in front of another.
unsafe extern "C" fn hook(node: *mut Link, position: *mut Link) {
    // SAFETY: the caller\'s request.
    let real = || unsafe { real::_ZNSt8__detail15_List_node_base7_M_hookEPS0_()(node.cast(), position.cast()) };
    if !active() {
        return real();
    }
    // SAFETY: the position is part of a list.
    unsafe {
        read(&raw const (*position).before);
        change_links(vec![node, position, (*position).before], real);
    }
}

/// Takes a node out.
unsafe extern "C" fn unhook(node: *mut Link) {
    // SAFETY: the caller\'s request.
    let real = || unsafe { real::_ZNSt8__detail15_List_node_base9_M_unhookEv()(node.cast()) };
    if !active() {
        return real();
    }
    // SAFETY: the node is part of a list.
    unsafe {
        read(&raw const (*node).next);
        read(&raw const (*node).before);
        change_links(vec![(*node).next, (*node).before], real);
    }
}

/// Moves nodes from `first` up to, but not including, `end` in front of another.
unsafe extern "C" fn transfer(position: *mut Link, first: *mut Link, end: *mut Link) {
    // SAFETY: the caller\'s request.
    let real = || unsafe {
        real::_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_()(position.cast(), first.cast(), end.cast())
    };
    if !active() || position == end {
        return real();
    }
    // SAFETY: all are parts of lists.
    unsafe {
        for node in [position, first, end] {
            read(&raw const (*node).before);
        }
        let nodes = vec![position, first, end, (*position).before, (*first).before, (*end).before];
        change_links(nodes, real);
    }
}

/// All nodes of a list, and its header.
///
/// # Safety
/// The header is that of a list.
unsafe fn whole(header: *mut Link) -> Vec<*mut Link> {
    let mut nodes = vec![header];
    // SAFETY: the header is that of a list, so each node leads to one that is there, and the last one back to the header.
    unsafe {
        let mut node = (*header).next;
        while node != header {
            nodes.push(node);
            node = (*node).next;
        }
    }
    nodes
}

unsafe extern "C" fn reverse(header: *mut Link) {
    // SAFETY: the caller\'s request.
    let real = || unsafe { real::_ZNSt8__detail15_List_node_base10_M_reverseEv()(header.cast()) };
    if !active() {
        return real();
    }
    // SAFETY: the caller's list.
    unsafe { change_links(whole(header), real) };
}

/// Exchanges the nodes of two lists.
unsafe extern "C" fn swap(one: *mut Link, other: *mut Link) {
    // SAFETY: the caller\'s request.
    let real = || unsafe { real::_ZNSt8__detail15_List_node_base4swapERS0_S1_()(one.cast(), other.cast()) };
    if !active() {
        return real();
    }
    // SAFETY: the caller's lists.
    unsafe {
        read(&raw const (*one).next);
        read(&raw const (*other).next);
        change_links(vec![one, other, (*one).next, (*one).before, (*other).next, (*other).before], real);
    }
}

/// The child of a node on one side; announced.
unsafe fn child(node: *mut Node, right: bool) -> *mut Node {
    // SAFETY: the caller's node.
    unsafe {
        let word = if right { &raw const (*node).right } else { &raw const (*node).left };
        read(word);
        *word
    }
}

/// What is read on the way to the next node, or to the one before.
unsafe fn neighbour(mut node: *mut Node, right: bool) {
    // SAFETY: the caller's tree, and the way is that of the library: down to the nearest, or up until a node lies on the other side.
    unsafe {
        if !right && (*node).colour == 0 && !(*node).parent.is_null() && (*(*node).parent).parent == node {
            // Before the header comes the last node.
            return read(&raw const (*node).right);
        }
        let mut below = child(node, right);
        if !below.is_null() {
            while !below.is_null() {
                below = child(below, !right);
            }
            return;
        }
        for _ in 0..HEIGHT {
            read(&raw const (*node).parent);
            let parent = (*node).parent;
            if child(parent, right) != node {
                return;
            }
            node = parent;
        }
    }
}

unsafe extern "C" fn increment(node: *mut Node) -> *mut c_void {
    // SAFETY: the caller's node, which is not the header.
    unsafe {
        if active() {
            neighbour(node, true);
        }
        real::_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base()(node.cast())
    }
}

unsafe extern "C" fn decrement(node: *mut Node) -> *mut c_void {
    // SAFETY: the caller's node, or the header.
    unsafe {
        if active() {
            neighbour(node, false);
        }
        real::_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base()(node.cast())
    }
}

/// A node and its descendants, as many generations as asked for.
unsafe fn descendants(node: *mut Node, generations: usize, found: &mut Vec<*mut Node>) {
    if node.is_null() {
        return;
    }
    found.push(node);
    if generations > 0 {
        // SAFETY: the caller's tree.
        unsafe {
            descendants((*node).left, generations - 1, found);
            descendants((*node).right, generations - 1, found);
        }
    }
}

/// All that may change when the tree is balanced again from this node up.
unsafe fn concerned(mut node: *mut Node, header: *mut Node) -> Vec<*mut Node> {
    let mut found = vec![header];
    for _ in 0..HEIGHT {
        if node == header || node.is_null() {
            break;
        }
        // SAFETY: the caller's tree.
        unsafe {
            descendants(node, BELOW, &mut found);
            node = (*node).parent;
        }
    }
    found
}

/// Announces what a function does to nodes of a tree.
unsafe fn change_nodes<R>(mut nodes: Vec<*mut Node>, function: impl FnOnce() -> R) -> R {
    nodes.sort_unstable();
    nodes.dedup();
    // SAFETY: the nodes are there, before and after it.
    let before: Vec<Node> = nodes.iter().map(|&node| unsafe { *node }).collect();
    let result = function();
    for (&node, was) in nodes.iter().zip(&before) {
        // SAFETY: the nodes are still there after the function.
        unsafe {
            wrote(&raw const (*node).colour, &was.colour);
            wrote(&raw const (*node).parent, &was.parent);
            wrote(&raw const (*node).left, &was.left);
            wrote(&raw const (*node).right, &was.right);
        }
    }
    result
}

unsafe extern "C" fn insert(left: bool, node: *mut Node, parent: *mut Node, header: *mut Node) {
    // SAFETY: the caller\'s request.
    let real = || unsafe {
        let insert = real::_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_();
        insert(left, node.cast(), parent.cast(), header.cast());
    };
    if !active() {
        return real();
    }
    // SAFETY: the caller's tree. The new node's own words say nothing yet.
    unsafe {
        let mut nodes = concerned(parent, header);
        nodes.push(node);
        change_nodes(nodes, real);
    }
}

unsafe extern "C" fn erase(node: *mut Node, header: *mut Node) -> *mut c_void {
    let real =
        // SAFETY: the caller's request.
        || unsafe { real::_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_()(node.cast(), header.cast()) };
    if !active() {
        return real();
    }
    // SAFETY: the caller's tree. A node with two children changes places with the next one.
    unsafe {
        let mut deepest = node;
        if !(*node).left.is_null() && !(*node).right.is_null() {
            deepest = (*node).right;
            while !(*deepest).left.is_null() {
                deepest = (*deepest).left;
            }
        }
        change_nodes(concerned(deepest, header), real)
    }
}

crate::entries! {
    __wrap__ZNSt8__detail15_List_node_base7_M_hookEPS0_ => hook;
    __wrap__ZNSt8__detail15_List_node_base9_M_unhookEv => unhook;
    __wrap__ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_ => transfer;
    __wrap__ZNSt8__detail15_List_node_base10_M_reverseEv => reverse;
    __wrap__ZNSt8__detail15_List_node_base4swapERS0_S1_ => swap;
    __wrap__ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base => increment;
    __wrap__ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base => increment;
    __wrap__ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base => decrement;
    __wrap__ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base => decrement;
    __wrap__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_ => insert;
    __wrap__ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_ => erase;
}
