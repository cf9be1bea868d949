/**
 * The fault of a line. `unescaped`: a label value has unescaped quotes; the line is read anyway. `duplicate`: the
 * series had a value before, which stays. `body_bytes`: the line and the rest of the body are left out. For all other
 * faults, the line is left out.
 */
export type ParseFault =
  | 'name'
  | 'labels'
  | 'unescaped'
  | 'value'
  | 'timestamp'
  | 'comment'
  | 'duplicate'
  | 'after_end'
  | 'line_bytes'
  | 'label_bytes'
  | 'label_count'
  | 'series_count'
  | 'family_count'
  | 'body_bytes'

/** A fault, and the line of the body that has it, counted from 1. */
export interface FaultyLine {
  readonly line: number
  readonly fault: ParseFault
}

/** Limit of faulty lines that are reported one by one. */
const LINES_MAX = 16

/** The faults of one body: all are counted, and the first are reported with their lines. */
export class ParseFaults {
  readonly counts = new Map<ParseFault, number>()
  readonly lines: FaultyLine[] = []

  /** How many lines have a fault. */
  get total(): number {
    let sum = 0
    for (const count of this.counts.values()) sum += count
    return sum
  }

  add(fault: ParseFault, line: number): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1)
    if (this.lines.length < LINES_MAX) this.lines.push({ line, fault })
  }
}
