//! The paper's three figures in one self-contained drawing: loss over time, time to 90, 95 and 99 %, shares of the cores.

use super::experiment::Standing;
use super::metrics::mean;
use super::trace::Sample;
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const PANEL: f64 = 250.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 44.0;
/// Points of a line: enough to see the course, few enough to smooth the moment.
const BINS: usize = 80;
/// Colours that differ for colour-blind readers too (Okabe and Ito).
const COLOURS: [&str; 8] = ["#999999", "#000000", "#56B4E9", "#E69F00", "#CC79A7", "#0072B2", "#D55E00", "#009E73"];

/// Draws the policies; variants with settings (`slaq@…`) are left out.
pub fn figures(standings: &[Standing]) -> String {
    let shown: Vec<&Standing> = standings.iter().filter(|standing| !standing.name.contains('@')).collect();
    let height = 3.0 * (PANEL + TOP + 30.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    loss_over_time(&mut out, &shown, TOP);
    time_to(&mut out, &shown, 2.0 * TOP + PANEL + 30.0);
    if let Some(ours) = shown.iter().find(|standing| standing.name == "slaq").or(shown.last()) {
        shares(&mut out, ours, 3.0 * TOP + 2.0 * (PANEL + 30.0));
    }
    out + "</svg>\n"
}

fn loss_over_time(out: &mut String, shown: &[&Standing], top: f64) {
    let end = shown.iter().filter_map(|standing| standing.trace.runs.last()).map(|run| run.arrival).fold(1.0, f64::max);
    title(out, top, "Mean normalised loss of active runs over time");
    axes(out, top, "s", end, 1.0, |part| format!("{part:.1}"));
    for (index, standing) in shown.iter().enumerate() {
        let line = binned(&standing.trace.samples, end, |sample| (sample.active > 0).then_some(sample.loss));
        let points: Vec<String> =
            line.iter().map(|(time, loss)| format!("{:.1},{:.1}", x(time / end), y(top, *loss))).collect();
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" points=\"{}\"/>",
            colour(index),
            points.join(" ")
        );
        legend(out, top, index, &standing.name);
    }
}

fn time_to(out: &mut String, shown: &[&Standing], top: f64) {
    let groups: Vec<[f64; 3]> =
        shown.iter().map(|standing| [standing.metrics.t90, standing.metrics.t95, standing.metrics.t99]).collect();
    let most = groups.iter().flatten().copied().filter(|time| time.is_finite()).fold(1e-9, f64::max);
    title(out, top, "Mean seconds from arrival to a part of the loss reduction");
    axes(out, top, "", 0.0, most, |part| format!("{part:.0}"));
    let slot = (WIDTH - LEFT - RIGHT) / 3.0;
    let bar = slot * 0.85 / shown.len().max(1) as f64;
    for (place, label) in ["90 %", "95 %", "99 %"].iter().enumerate() {
        let start = LEFT + place as f64 * slot + slot * 0.08;
        for (index, times) in groups.iter().enumerate() {
            let above = y(top, times[place] / most);
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{above:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{} {:.1} s</title></rect>",
                start + index as f64 * bar,
                bar * 0.9,
                top + PANEL - above,
                colour(index),
                escape(&shown[index].name),
                times[place]
            );
        }
        text(out, start + slot * 0.42, top + PANEL + 16.0, "middle", label);
    }
    for (index, standing) in shown.iter().enumerate() {
        legend(out, top, index, &standing.name);
    }
}

fn shares(out: &mut String, standing: &Standing, top: f64) {
    let samples = &standing.trace.samples;
    let end = standing.trace.runs.last().map_or(1.0, |run| run.arrival.max(1.0));
    title(out, top, &format!("Shares of the busy cores under {}: runs by their loss", standing.name));
    axes(out, top, "s", end, 1.0, |part| format!("{:.0} %", 100.0 * part));
    let highest = binned(samples, end, |sample| sample.top);
    let lowest = binned(samples, end, |sample| sample.converged);
    let bands = [("lowest half", "#56B4E9"), ("in between", "#DDDDDD"), ("highest quarter", "#D55E00")];
    let edges = |low: fn(f64, f64) -> f64, high: fn(f64, f64) -> f64| {
        let point = |time: f64, part: f64| format!("{:.1},{:.1}", x(time / end), y(top, part));
        let over = highest.iter().zip(&lowest).map(|((time, top), (_, bottom))| point(*time, high(*top, *bottom)));
        let back = highest.iter().zip(&lowest).rev().map(|((time, top), (_, bottom))| point(*time, low(*top, *bottom)));
        over.chain(back).collect::<Vec<_>>().join(" ")
    };
    let outlines = [
        edges(|_, _| 0.0, |_, bottom| bottom),
        edges(|_, bottom| bottom, |top, _| 1.0 - top),
        edges(|top, _| 1.0 - top, |_, _| 1.0),
    ];
    for (index, ((name, colour), points)) in bands.iter().zip(outlines).enumerate() {
        let _ = writeln!(out, "<polygon fill=\"{colour}\" points=\"{points}\"/>");
        key(out, top, index, name, colour);
    }
}

/// Means of what is known in equal stretches of time.
fn binned(samples: &[Sample], end: f64, of: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let width = end / BINS as f64;
    let mut bins: Vec<Vec<f64>> = vec![Vec::new(); BINS];
    for sample in samples.iter().filter(|sample| sample.time < end) {
        bins[((sample.time / width) as usize).min(BINS - 1)].extend(of(sample));
    }
    let middle = |index: usize| (index as f64 + 0.5) * width;
    bins.iter()
        .enumerate()
        .filter(|(_, bin)| !bin.is_empty())
        .map(|(index, bin)| (middle(index), mean(bin.iter().copied())))
        .collect()
}

fn x(part: f64) -> f64 {
    LEFT + part.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
}

fn y(top: f64, part: f64) -> f64 {
    top + PANEL * (1.0 - part.clamp(0.0, 1.0))
}

fn axes(out: &mut String, top: f64, unit: &str, end: f64, most: f64, label: impl Fn(f64) -> String) {
    for step in 0..=4 {
        let part = f64::from(step) / 4.0;
        let (at, right) = (y(top, part), WIDTH - RIGHT);
        let _ = writeln!(out, "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#eeeeee\"/>");
        text(out, LEFT - 6.0, at + 4.0, "end", &label(part * most));
        if end > 0.0 {
            text(out, x(part), top + PANEL + 16.0, "middle", &format!("{:.0} {unit}", part * end));
        }
    }
}

fn title(out: &mut String, top: f64, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"14\" font-weight=\"bold\">{}</text>",
        top - 14.0,
        escape(words)
    );
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(words));
}

fn legend(out: &mut String, top: f64, index: usize, name: &str) {
    key(out, top, index, name, colour(index));
}

fn key(out: &mut String, top: f64, index: usize, name: &str, colour: &str) {
    let (left, at) = (WIDTH - RIGHT + 14.0, top + 10.0 + 20.0 * index as f64);
    let _ =
        writeln!(out, "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>", at - 10.0);
    text(out, left + 18.0, at, "start", name);
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::metrics::Metrics;
    use super::super::trace::{RunTrace, Trace};
    use super::*;

    #[test]
    fn policies_are_drawn_and_variants_are_not() {
        let standing = |name: &str| Standing {
            name: name.to_owned(),
            metrics: Metrics { t90: 1.0, t95: 2.0, t99: 4.0, ..Metrics::default() },
            per_seed: Vec::new(),
            trace: Trace {
                runs: vec![RunTrace { arrival: 10.0, ..RunTrace::default() }],
                samples: (0..10)
                    .map(|t| Sample {
                        time: f64::from(t),
                        active: 4,
                        loss: 0.5,
                        busy: 8,
                        top: Some(0.6),
                        converged: Some(0.2),
                    })
                    .collect(),
            },
        };
        let drawing = figures(&[standing("fair"), standing("slaq"), standing("slaq@fairness=0.5")]);
        assert_eq!(drawing.matches("<polyline").count(), 2);
        assert_eq!(drawing.matches("<polygon").count(), 3);
        assert!(drawing.contains("fair 1.0 s") && drawing.contains("slaq 4.0 s") && !drawing.contains("fairness"));
        assert!(!drawing.contains("NaN"));
    }
}
