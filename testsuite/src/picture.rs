//! Draws a field on a triangulated plane as an SVG: each triangle in the colour of its corners' mean.

use std::fmt::Write;

/// A mesh in the plane with a value at each vertex.
pub struct Field<'a> {
    /// Positions of the vertices.
    pub at: &'a [[f64; 2]],
    /// Corners of the triangles.
    pub triangles: &'a [[usize; 3]],
    /// A value at each vertex, from −1 to 1.
    pub values: &'a [f64],
}

/// Blue at −1, white at 0, red at 1.
fn colour(value: f64) -> String {
    let t = value.clamp(-1.0, 1.0);
    let to = if t < 0.0 { [33.0, 102.0, 172.0] } else { [178.0, 24.0, 43.0] };
    let part = |end: f64| (247.0 + (end - 247.0) * t.abs()).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(to[0]), part(to[1]), part(to[2]))
}

const SIZE: f64 = 400.0;
const MARGIN: f64 = 12.0;
const BAR: f64 = 14.0;
const STEPS: u32 = 40;

impl Field<'_> {
    /// The picture, with a bar that says which colour means what.
    pub fn svg(&self, title: &str) -> String {
        let reach = self.at.iter().flatten().fold(0.0f64, |r, x| r.max(x.abs()));
        let scale = (SIZE / 2.0 - MARGIN) / reach;
        let point = |v: usize| {
            let [x, y] = self.at[v];
            format!("{:.1},{:.1}", SIZE / 2.0 + scale * x, SIZE / 2.0 - scale * y)
        };
        let width = SIZE + 90.0;
        let mut out = String::new();
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes text");
        line(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {SIZE}\" font-family=\"sans-serif\" \
             font-size=\"13\" role=\"img\">"
        ));
        line(format!("<title>{title}</title>"));
        line(format!("<rect width=\"{width}\" height=\"{SIZE}\" fill=\"#ffffff\"/>"));
        line("<g stroke=\"#ffffff\" stroke-width=\"0.5\" stroke-linejoin=\"round\">".into());
        for corners in self.triangles {
            let mean = corners.iter().map(|v| self.values[*v]).sum::<f64>() / 3.0;
            let points = corners.map(point).join(" ");
            line(format!("<polygon points=\"{points}\" fill=\"{}\"/>", colour(mean)));
        }
        line("</g>".into());
        let height = SIZE - 2.0 * MARGIN;
        for step in 0..STEPS {
            let part = height / f64::from(STEPS);
            let y = MARGIN + part * f64::from(step);
            let value = 1.0 - 2.0 * (f64::from(step) + 0.5) / f64::from(STEPS);
            let fill = colour(value);
            line(format!(
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{BAR}\" height=\"{:.1}\" fill=\"{fill}\"/>",
                SIZE + 12.0,
                part + 0.3
            ));
        }
        for (label, share) in [("1", 0.0), ("0", 0.5), ("−1", 1.0)] {
            let y = MARGIN + height * share + 4.0;
            line(format!("<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"#333333\">{label}</text>", SIZE + 32.0));
        }
        line("</svg>".into());
        out
    }
}
