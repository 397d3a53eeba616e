//! The `slaq` command as a user meets it: its figures, its help, and what it says to bad input.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of two curves that goes away with the test.
struct Curves(PathBuf);

impl Curves {
    fn new(test: &str) -> Curves {
        let dir = std::env::temp_dir().join(format!("slaq-cli-{}-{test}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let lines =
            |loss: &dyn Fn(f64) -> f64| (0..40).map(|k| format!("{}\n", loss(f64::from(k)))).collect::<String>();
        fs::write(dir.join("gbt.txt"), lines(&|k| 1.0 + 1.0 / (1.0 + 0.2 * k))).unwrap();
        let rising: Vec<f64> = (0..30).map(|k| -10.0 - 90.0 * 0.8f64.powi(k)).collect();
        let curve =
            serde_json::json!({"name": "mixture", "algorithm": "GaussianMixture", "maximise": true, "losses": rising});
        fs::write(dir.join("mixture.json"), curve.to_string()).unwrap();
        Curves(dir)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Curves {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn slaq(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_slaq")).args(words).output().unwrap()
}

fn printed(words: &[&str]) -> String {
    let output = slaq(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(words: &[&str]) -> String {
    let output = slaq(words);
    assert_eq!(output.status.code(), Some(2), "{words:?} is refused with status 2");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_subcommand_explains_itself() {
    let all = printed(&["--help"]);
    for name in ["forecast", "speed", "simulate", "plan-bench"] {
        assert!(all.contains(name));
        let help = printed(&[name, "--help"]);
        assert!(help.starts_with(&format!("slaq {name}: ")) && help.contains("--json FILE"), "{help}");
    }
}

#[test]
fn bad_input_is_named_with_what_is_allowed() {
    let curves = Curves::new("bad");
    for (words, message) in [
        (vec!["simulat"], "unknown subcommand \"simulat\"; allowed: forecast, speed, simulate, plan-bench"),
        (vec!["plan-bench", "--runs", "-3"], "--runs: \"-3\" is not allowed; allowed: whole number from 1 to 10000000"),
        (vec!["plan-bench", "--run", "3"], "unknown argument \"--run\"; allowed: --runs, --cores"),
        (vec!["plan-bench", "--set", "epoch=soon"], "epoch = soon: allowed is a number"),
        (vec!["simulate", "--curves", curves.path(), "--cores", "0"], "--cores: \"0\" is not allowed"),
        (
            vec!["simulate", "--curves", curves.path(), "--policies", "best"],
            "--policies: \"best\" is not allowed; allowed: fifo",
        ),
        (
            vec!["simulate", "--curves", curves.path(), "--stragglers", "2:3"],
            "--stragglers: \"2:3\" is not allowed; allowed: RATE:FACTOR",
        ),
        (
            vec!["simulate", "--curves", curves.path(), "--lend", "never"],
            "--lend: \"never\" is not allowed; allowed: seconds >= 0, or off",
        ),
        (vec!["simulate", "--curves", curves.path(), "--set", "colour=red"], "colour = red: allowed is one of policy"),
        (vec!["forecast", "--curves", "/nowhere/at/all"], "/nowhere/at/all: No such file"),
    ] {
        let text = refused(&words);
        assert!(text.starts_with("slaq: ") && text.contains(message), "{words:?}: {text}");
    }
    fs::write(curves.file("broken.json"), r#"{"algorithm":"KMeans","losses":[1,"two"]}"#).unwrap();
    let text = refused(&["forecast", "--curves", curves.path()]);
    assert!(text.contains("broken.json: losses: expected a list of numbers"), "{text}");
}

#[test]
fn forecasts_are_measured_per_curve_and_forecaster() {
    let curves = Curves::new("forecast");
    let file = curves.file("out");
    let table = printed(&["forecast", "--curves", curves.path(), "--json", file.to_str().unwrap()]);
    assert!(table.contains("mixture") && table.contains("gbt") && table.contains("median"));
    let figures = json(&file);
    assert_eq!(figures["curves"].as_array().unwrap().len(), 2);
    let (gbt, mixture) = (&figures["curves"][0], &figures["curves"][1]);
    assert_eq!((&gbt["name"], &gbt["points"]), (&Value::from("gbt"), &Value::from(40)));
    for name in ["ours", "last-value", "last-change", "class-curve", "slaq-2017"] {
        for key in [
            "loss_error_1_mean",
            "loss_error_5_mean",
            "loss_error_10_mean",
            "reduction_error_10_median",
            "reduction_error_10_p90",
            "bound_coverage",
        ] {
            assert!(mixture[name][key].as_f64().is_some_and(f64::is_finite), "{name} {key}");
        }
    }
    let ten = |name: &str| gbt[name]["loss_error_10_mean"].as_f64().unwrap();
    assert!(ten("ours") < ten("last-value"), "a smooth curve is foreseen better than not at all");
}

#[test]
fn policies_are_compared_on_the_same_runs() {
    let curves = Curves::new("simulate");
    let (file, drawing) = (curves.file("out"), curves.file("drawing"));
    let words = [
        "simulate",
        "--curves",
        curves.path(),
        "--cores",
        "16",
        "--runs",
        "20",
        "--arrival",
        "2",
        "--task-seconds",
        "0.3",
        "--seeds",
        "2",
    ];
    let outputs = ["--json", file.to_str().unwrap(), "--svg", drawing.to_str().unwrap()];
    let table = printed(&[&words[..], &outputs[..]].concat());
    let figures = json(&file);
    for name in [
        "fifo",
        "fair",
        "equal",
        "progress",
        "las",
        "slaq-2017",
        "slaq",
        "oracle",
        "slaq@fairness=0.25",
        "slaq@fairness=0.5",
    ] {
        assert!(table.contains(name), "{name}");
        for key in [
            "t90_s",
            "t95_s",
            "t99_s",
            "mean_norm_loss",
            "share_top_quarter",
            "share_converged_half",
            "makespan_s",
            "worst_slowdown",
        ] {
            assert!(
                figures["policies"][name][key].as_f64().is_some_and(|figure| figure.is_finite() && figure > 0.0),
                "{name} {key}"
            );
        }
    }
    assert_eq!(figures["policies"]["fair"]["worst_slowdown"], 1.0);
    assert!(fs::read_to_string(&drawing).unwrap().starts_with("<svg"));
    assert_eq!(table, printed(&[&words[..], &outputs[..]].concat()), "the same command gives the same figures");
}

#[test]
fn plans_are_timed() {
    let curves = Curves::new("plan");
    let file = curves.file("out");
    printed(&["plan-bench", "--runs", "64", "--cores", "256", "--json", file.to_str().unwrap()]);
    let figures = json(&file);
    assert_eq!((figures["runs"].as_u64(), figures["cores"].as_u64()), (Some(64), Some(256)));
    let (median, p90) = (figures["median_ms"].as_f64().unwrap(), figures["p90_ms"].as_f64().unwrap());
    assert!(0.0 < median && median <= p90);
    assert_eq!(figures["growth"].as_array().unwrap().len(), 5);
}
