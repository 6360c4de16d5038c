//! Chat templates against transformers' renderings, and what other templates use.

use serde_json::{Value, json};
use tempfile::TempDir;
use tilewright_models::chat::{ChatTemplate, Message};
use tilewright_models::tokenizer::Tokenizer;

use crate::goldens::{assert_says, asset, config, golden, ids, json};

fn messages(value: &Value) -> Vec<Message> {
    value.as_array().unwrap().iter().map(|m| Message::from_json(m).unwrap()).collect()
}

fn hello() -> Vec<Message> {
    vec![Message::new("system", "Be brief."), Message::new("user", "Hello!")]
}

/// A folder whose `tokenizer_config.json` holds this template.
fn with_template(template: Value) -> (TempDir, ChatTemplate) {
    let dir = tempfile::tempdir().unwrap();
    let config = json!({
        "chat_template": template, "eos_token": "<|im_end|>", "bos_token": { "content": "<|begin|>" }, "pad_token": null
    });
    std::fs::write(dir.path().join("tokenizer_config.json"), config.to_string()).unwrap();
    let template = ChatTemplate::open(dir.path()).unwrap();
    (dir, template)
}

#[track_caller]
fn renders(template: &str, expected: &str) {
    let prompt = with_template(json!(template)).1.render(&hello(), &[], true).unwrap();
    assert_eq!((prompt.text.as_str(), prompt.note), (expected, None));
}

const CHATML: &str =
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n";

#[test]
fn prompts_are_those_of_transformers() {
    let dir = asset("tiny");
    let template = ChatTemplate::open(&dir).unwrap();
    let tokenizer = Tokenizer::open(&dir, &config(&dir)).unwrap();
    let cases = json(&golden("chat_template.json"));
    assert_eq!(cases.as_array().unwrap().len(), 8);
    for case in cases.as_array().unwrap() {
        let tools = case["tools"].as_array().cloned().unwrap_or_default();
        let add = case["add_generation_prompt"].as_bool().unwrap();
        let prompt = template.render(&messages(&case["messages"]), &tools, add).unwrap();
        assert_eq!(prompt.note, None, "{}", case["name"]);
        assert_eq!(prompt.text, case["rendered"].as_str().unwrap());
        assert_eq!(tokenizer.encode(&prompt.text).unwrap(), ids(&case["ids"]));
    }
}

/// What templates in the wild use beyond plain Jinja. Expected texts are jinja2's with transformers' settings.
#[test]
fn python_in_templates() {
    renders(
        "{{ bos_token }}{{ eos_token }}{{ pad_token }}|{{ tools }}|{{ add_generation_prompt }}",
        "<|begin|><|im_end|>|None|True",
    );
    renders(
        "{{ messages[0].content.rstrip('.').upper() }}{{ '  x '.strip() }}{{ 'a-b'.split('-')[-1] }}",
        "BE BRIEFxb",
    );
    renders(
        "{% for k, v in messages[0].items() %}{{ k }}={{ v }};{% endfor %}{{ messages[0].get('name', 'none') }}",
        "role=system;content=Be brief.;none",
    );
    renders(
        "{% for m in messages[::-1] %}\n  {% if m.role.startswith('s') %}{% continue %}{% endif %}\n{{ m.content }}\n{% endfor %}",
        "Hello!\n",
    );
    renders(
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + m.content|length %}{% endfor %}{{ ns.n }}",
        "15",
    );
    renders(
        "{{ messages[0]|tojson }}{{ {'a': 1.0, 'b': none}|tojson(indent=1) }}",
        "{\"role\": \"system\", \"content\": \"Be brief.\"}{\n \"a\": 1.0,\n \"b\": null\n}",
    );
    renders("{% for m in messages %}{%- generation -%} {{ m.role }} {%- endgeneration -%}{% endfor %}", "systemuser");
    renders("{{ 'tool' if tools is not none and tools else 'plain' }}{{ messages[5] is defined }}", "plainFalse");
    let year = with_template(json!("{{ strftime_now('%Y') }}")).1.render(&hello(), &[], true).unwrap().text;
    assert!(year.parse::<u32>().unwrap() >= 2025);
}

#[test]
fn templates_in_other_places() {
    let (dir, by_name) = with_template(json!([
        { "name": "tool_use", "template": "tools: {{ tools|length }}" },
        { "name": "default", "template": "plain" }
    ]));
    let text = |t: &ChatTemplate, tools: &[Value]| t.render(&hello(), tools, true).unwrap().text;
    assert_eq!(text(&by_name, &[]), "plain");
    assert_eq!(text(&by_name, &[json!({ "name": "f" }), json!({ "name": "g" })]), "tools: 2");
    std::fs::write(dir.path().join("chat_template.jinja"), "from the file").unwrap();
    assert_eq!(text(&ChatTemplate::open(dir.path()).unwrap(), &[]), "from the file");
}

#[test]
fn the_built_in_steps_in_where_there_is_none_and_says_so() {
    let empty = tempfile::tempdir().unwrap();
    let none = ChatTemplate::open(empty.path()).unwrap().render(&hello(), &[], true).unwrap();
    assert_eq!(none.text, CHATML);
    assert_says(&none.note.unwrap(), &["has no chat template", "ChatML", &empty.path().display().to_string()]);
}

#[test]
fn a_broken_template_is_an_error_that_names_its_file() {
    for broken in
        ["{% if %}", "{% call_unknown_tag %}", "{{ messages|no_such_filter }}", "{{ messages.nothing.more.nothing }}"]
    {
        let (dir, template) = with_template(json!(broken));
        let message = template.render(&hello(), &[], true).unwrap_err().to_string();
        assert_says(&message, &["tokenizer_config.json", "does not render", "without --chat"]);
        std::fs::write(dir.path().join("chat_template.jinja"), broken).unwrap();
        let message = ChatTemplate::open(dir.path()).unwrap().render(&hello(), &[], true).unwrap_err().to_string();
        assert_says(&message, &["chat_template.jinja", "does not render"]);
    }
}

#[test]
fn messages_that_are_refused() {
    let template = with_template(json!(
        "{% macro no() %}{{ raise_exception('Roles must alternate: ' ~ messages|length) }}{% endmacro %}{{ no() }}"
    ))
    .1;
    let message = template.render(&hello(), &[], true).unwrap_err().to_string();
    assert_says(&message, &["template says", "Roles must alternate: 2"]);
    assert_says(&template.render(&[], &[], true).unwrap_err().to_string(), &["none", "at least one"]);
    let no_role = Message::from_json(&json!({ "content": "x" })).unwrap_err().to_string();
    assert_says(&no_role, &[r#"{"content":"x"}"#, "`role`"]);
}
