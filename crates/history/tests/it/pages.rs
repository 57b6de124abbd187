//! The page on objects has every object, every method and every other name of it.

use selvedge_history::object::Kind;

#[test]
fn the_page_has_every_object_and_method() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/log-objects.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut sections = page.split("\n## `").skip(1);
    for kind in Kind::ALL {
        let section = sections.next().expect("a section for each object, in their order");
        assert!(section.starts_with(&format!("{kind}`\n")), "{kind}: {section}");
        let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), kind.methods().len(), "{kind}");
        for (row, method) in rows.iter().zip(kind.methods()) {
            let others: Vec<String> = method.aliases.iter().map(|other| format!("`{other}`")).collect();
            let expected = format!("| `{}` | {} | ", method.name, others.join(", "));
            assert!(row.starts_with(&expected), "{kind}: {row}\nexpected {expected}");
        }
    }
    assert_eq!(sections.next(), None);
}
