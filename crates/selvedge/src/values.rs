//! Small values of ordinary types, and a macro that makes calls of method signatures with them.
//!
//! A macro by example sees no signatures: they are written once more, without names and `&self`. An attribute on an `impl` block
//! could read them itself; it would need a second crate and a parser.

/// Values to call a method with: few, small and different.
pub trait Small: Clone + 'static {
    /// The values.
    fn small() -> Vec<Self>;
    /// How one is written in the name of a call.
    fn written(&self) -> String;
}

macro_rules! small_numbers {
    ($($type:ty)*) => { $(
        impl Small for $type {
            fn small() -> Vec<Self> {
                vec![1, 2]
            }

            fn written(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

small_numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! small_values {
    ($($type:ty: $($value:expr),+;)*) => { $(
        impl Small for $type {
            fn small() -> Vec<Self> {
                vec![$($value.into()),+]
            }

            fn written(&self) -> String {
                format!("{self:?}")
            }
        }
    )* };
}

small_values! {
    bool: false, true;
    char: 'a', 'b';
    &'static str: "a", "b";
    String: "a", "b";
    (): ();
}

impl<T: Small> Small for Option<T> {
    fn small() -> Vec<Self> {
        [None].into_iter().chain(T::small().into_iter().take(1).map(Some)).collect()
    }

    fn written(&self) -> String {
        self.as_ref().map_or("None".into(), |value| format!("Some({})", value.written()))
    }
}

/// Arguments of a method, one after the other.
pub trait Arguments: Clone + 'static {
    /// Every combination of small values.
    fn all() -> Vec<Self>;
    /// How they are written in the name of a call.
    fn written(&self) -> String;
}

macro_rules! arguments {
    ($($first:ident $($name:ident)*;)*) => { $(
        impl<$first: Small, $($name: Small),*> Arguments for ($first, $($name,)*) {
            fn all() -> Vec<Self> {
                let rest = arguments!(@rest $($name)*);
                let first = $first::small();
                first.iter().flat_map(|first| rest.iter().map(move |rest| {
                    #[allow(non_snake_case, unused_variables)]
                    let ($($name,)*) = rest.clone();
                    (first.clone(), $($name,)*)
                })).collect()
            }

            fn written(&self) -> String {
                #[allow(non_snake_case)]
                let ($first, $($name,)*) = self;
                [$first.written(), $($name.written()),*].join(", ")
            }
        }
    )* };
    (@rest) => { vec![()] };
    (@rest $($name:ident)+) => { <($($name,)+)>::all() };
}

arguments! {
    A;
    A B;
    A B C;
    A B C D;
}

/// An object whose calls come from the signatures of its methods, with small values for their arguments.
///
/// ```no_run
/// # struct Queue;
/// # impl Queue {
/// #     fn with_capacity(_: usize) -> Self { Queue }
/// #     fn push(&self, _: u32) -> bool { true }
/// #     fn pop(&self) -> Option<u32> { None }
/// # }
/// # fn test() {
/// selvedge::object!(Queue { with_capacity(2); push(u32); pop(); }).check();
/// # }
/// ```
///
/// First the constructor, with values; then methods of `&self`, with the types of up to 4 arguments. `push(u32)` stands for `push(1)`
/// and `push(2)`. The result is an [`Object`](crate::Object), to which more can be said.
#[macro_export]
macro_rules! object {
    (@method $object:ident, $type:ty, $method:ident,) => {
        $object.call(concat!(stringify!($method), "()"), |object: &$type| object.$method())
    };
    (@method $object:ident, $type:ty, $method:ident, $a:ty) => {
        $object.each(stringify!($method), |object: &$type, (a,): ($a,)| object.$method(a))
    };
    (@method $object:ident, $type:ty, $method:ident, $a:ty, $b:ty) => {
        $object.each(stringify!($method), |object: &$type, (a, b): ($a, $b)| object.$method(a, b))
    };
    (@method $object:ident, $type:ty, $method:ident, $a:ty, $b:ty, $c:ty) => {
        $object.each(stringify!($method), |object: &$type, (a, b, c): ($a, $b, $c)| object.$method(a, b, c))
    };
    (@method $object:ident, $type:ty, $method:ident, $a:ty, $b:ty, $c:ty, $d:ty) => {
        $object.each(stringify!($method), |object: &$type, (a, b, c, d): ($a, $b, $c, $d)| object.$method(a, b, c, d))
    };
    ($type:ty { $new:ident($($with:expr),* $(,)?); $($method:ident($($argument:ty),* $(,)?);)+ }) => {{
        let object = $crate::object(|| <$type>::$new($($with),*));
        $( let object = $crate::object!(@method object, $type, $method, $($argument),*); )+
        object
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<A: Arguments>() -> Vec<String> {
        A::all().iter().map(Arguments::written).collect()
    }

    #[test]
    fn every_combination_once() {
        assert_eq!(written::<(u32,)>(), ["1", "2"]);
        assert_eq!(written::<(i8, bool)>(), ["1, false", "1, true", "2, false", "2, true"]);
        assert_eq!(written::<(Option<u8>, &'static str)>(), [
            "None, \"a\"",
            "None, \"b\"",
            "Some(1), \"a\"",
            "Some(1), \"b\""
        ]);
        assert_eq!(written::<(u8, u8, u8, u8)>().len(), 16);
    }

    struct Cell(std::sync::Mutex<u32>);

    impl Cell {
        fn new(value: u32) -> Self {
            Cell(std::sync::Mutex::new(value))
        }

        fn swap(&self, value: u32, _: bool) -> u32 {
            std::mem::replace(&mut self.0.lock().unwrap(), value)
        }

        fn get(&self) -> u32 {
            *self.0.lock().unwrap()
        }
    }

    #[test]
    fn signatures_become_calls() {
        let object = object!(Cell { new(7); get(); swap(u32, bool); });
        let names = ["get()", "swap(1, false)", "swap(1, true)", "swap(2, false)", "swap(2, true)"];
        assert_eq!(object.names(), names);
    }
}
