/** A span of time. Unit: milliseconds since the Unix epoch, with fractions. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Shortest view. Present times have a resolution of a quarter of a microsecond as numbers, so a shorter view shows no
 * detail.
 */
const SPAN_MIN_MS = 0.005

/** Length of a span. Unit: milliseconds. */
export function lengthOf({ fromMs, toMs }: Span): number {
  return toMs - fromMs
}

/** Moves a span into the bounds, and cuts it if it is longer. */
export function clampSpan(span: Span, bounds: Span): Span {
  const lengthMs = Math.min(Math.max(lengthOf(span), SPAN_MIN_MS), lengthOf(bounds))
  const fromMs = Math.min(Math.max(span.fromMs, bounds.fromMs), bounds.toMs - lengthMs)
  return { fromMs, toMs: fromMs + lengthMs }
}

/** Scales a span by `factor` around `atMs`. */
export function zoomSpan(span: Span, bounds: Span, atMs: number, factor: number): Span {
  const inside = Math.min(Math.max(atMs, span.fromMs), span.toMs)
  const lengthMs = Math.min(Math.max(lengthOf(span) * factor, SPAN_MIN_MS), lengthOf(bounds))
  const share = (inside - span.fromMs) / lengthOf(span)
  const fromMs = inside - share * lengthMs
  return clampSpan({ fromMs, toMs: fromMs + lengthMs }, bounds)
}

/** Moves a span by a multiple of its length. */
export function panSpan(span: Span, bounds: Span, lengths: number): Span {
  const byMs = lengths * lengthOf(span)
  return clampSpan({ fromMs: span.fromMs + byMs, toMs: span.toMs + byMs }, bounds)
}

/** Moves a span just enough to include a time. */
export function spanWith(span: Span, bounds: Span, atMs: number): Span {
  if (atMs >= span.fromMs && atMs <= span.toMs) return span
  const byMs = atMs < span.fromMs ? atMs - span.fromMs : atMs - span.toMs
  return clampSpan({ fromMs: span.fromMs + byMs, toMs: span.toMs + byMs }, bounds)
}

/** Whether one span contains another. */
export function covers(outer: Span, inner: Span): boolean {
  return outer.fromMs <= inner.fromMs && outer.toMs >= inner.toMs
}
