//! What is said of each mistake, word for word: models of one line, each above what `messages.txt` expects. `SELVEDGE_UPDATE=1` writes it.

use super::{Model, explore};

/// What is wrong with a model: in its text, or, if the text is right, when it runs or is checked.
fn said(text: &str) -> String {
    let model = match Model::new(text) {
        Ok(model) => model,
        Err(errors) => return errors[0].show("model.csp", text),
    };
    let settings = crate::Settings::default();
    let checked = (0..model.assertions().len()).find_map(|claim| model.check(claim, &settings).err());
    if let Some(trouble) = checked {
        return trouble.to_string();
    }
    let system = model.process("Sys", &[]).expect("there is a Sys");
    explore(&system).map(|_| ()).expect_err("something is wrong with it").to_string()
}

#[test]
fn every_mistake_is_told_in_these_words() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/language/tests/messages.txt");
    let expected = std::fs::read_to_string(path).expect("the messages");
    let models: Vec<&str> = expected.lines().filter(|line| !line.is_empty() && !line.starts_with("    ")).collect();
    let mut found = String::new();
    for model in &models {
        found.push_str(model);
        found.push('\n');
        said(model).lines().for_each(|line| found.push_str(format!("    {line}\n").as_str()));
        found.push('\n');
    }
    if std::env::var_os("SELVEDGE_UPDATE").is_some() {
        std::fs::write(path, &found).expect("the messages are written");
    }
    assert!(models.len() > 100, "{} models", models.len());
    let wrong = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert_eq!(wrong, None);
    assert_eq!(found.lines().count(), expected.lines().count());
}
