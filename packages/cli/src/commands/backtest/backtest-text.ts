import type { BacktestReport, BacktestRule, TestedEvent } from '@sonde/agent'
import { countOf } from '@sonde/sdk/internal'
import type { FormatName } from '../read/options.ts'
import { type SummaryRow, summaryText } from '../read/summary.ts'
import { timeText } from '../read/table.ts'

/** Events in a table; every format for programs has all that were kept. */
const EVENTS_SHOWN = 50
const CSV_HEAD = 'start,lastedS,end,rule,source,device'
const NS_PER_S = 1e9

/** The result as text: rules and events as lines of JSON, events as CSV, or tables for people. */
export function backtestText(report: BacktestReport, format: FormatName): string {
  const { rules, events } = report
  if (format === 'csv') return events.length === 0 ? `${CSV_HEAD}\n` : summaryText(events.map(csvRow), format)
  if (format === 'jsonl') {
    const rows = [...rules.map((rule) => ({ kind: 'rule', ...ruleFields(rule) })), ...events.map(eventFields)]
    return summaryText(rows, format)
  }
  const parts = [
    rangeSentence(report),
    summaryText(
      rules.map((rule) => ruleRow(rule, report)),
      format,
    ),
    ...(events.length === 0 ? [] : [summaryText(events.slice(0, EVENTS_SHOWN).map(eventRow), format)]),
  ]
  return `${parts.join('\n')}${notes(report)
    .map((note) => `\n${note}\n`)
    .join('')}`
}

function rangeSentence({ range, recordCount }: BacktestReport): string {
  if (range === undefined) return 'No records for these rules.\n'
  const { fromNs, toNs } = range
  return `${timeText(fromNs)} to ${timeText(toNs)} (${spanText(toNs - fromNs)}), ${countOf(recordCount, 'record')}\n`
}

function notes({ events, rules, repeatedCount, futureCount, refusedCount }: BacktestReport): string[] {
  const all = rules.reduce((sum, rule) => sum + rule.events, 0)
  const shown = Math.min(events.length, EVENTS_SHOWN)
  return [
    ...(all > shown ? [`${all - shown} more events; --format jsonl has the first 10 000 of each rule.`] : []),
    ...(repeatedCount > 0 ? [`${countOf(repeatedCount, 'record')} read twice or out of order: left out.`] : []),
    ...(futureCount > 0 ? [`${countOf(futureCount, 'record')} of the future: left out.`] : []),
    ...(refusedCount > 0
      ? [`${countOf(refusedCount, 'record')} of more series than are tested at a time: left out.`]
      : []),
  ]
}

function ruleRow(rule: BacktestRule, { range }: BacktestReport): SummaryRow {
  const { events, devices, heldNs, longestNs, series, intervalNs, fault } = rule
  const isTested = fault?.startsWith('not tested') !== true
  const seriesNs = range === undefined ? 0 : Number(range.toNs - range.fromNs) * Math.max(1, series)
  const share = seriesNs > 0 ? `${Number(((Number(heldNs) / seriesNs) * 100).toPrecision(2))} %` : undefined
  return {
    rule: rule.rule,
    events: isTested ? events : undefined,
    devices: isTested ? devices : undefined,
    held: isTested ? spanText(heldNs) : undefined,
    share: isTested ? share : undefined,
    longest: isTested ? spanText(longestNs) : undefined,
    series: series === 0 ? undefined : series,
    every: intervalNs === undefined ? undefined : spanText(intervalNs),
    note: fault ?? rule.condition,
  }
}

function eventRow({ rule, device, source, startNs, endNs, end }: TestedEvent): SummaryRow {
  return { start: timeText(startNs), lasted: spanText(endNs - startNs), end, rule, source, device }
}

function csvRow({ rule, device, source, startNs, endNs, end }: TestedEvent): SummaryRow {
  return { start: timeText(startNs), lastedS: secondsOf(endNs - startNs), end, rule, source, device }
}

function ruleFields({ heldNs, longestNs, intervalNs, ...rule }: BacktestRule): SummaryRow {
  const interval = intervalNs === undefined ? {} : { intervalS: secondsOf(intervalNs) }
  return { ...rule, heldS: secondsOf(heldNs), longestS: secondsOf(longestNs), ...interval }
}

function eventFields({ startNs, endNs, ...event }: TestedEvent): SummaryRow {
  return { kind: 'event', start: timeText(startNs), ...event, lastedS: secondsOf(endNs - startNs) }
}

function secondsOf(ns: bigint): number {
  return Number(ns) / NS_PER_S
}

const SPANS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** A time in two units at most: `3 h 5 min`, `1 min 2 s`, `12.5 s`, `1.2 ms`. */
function spanText(ns: bigint): string {
  const seconds = secondsOf(ns)
  const at = SPANS.findIndex(([, unitS]) => seconds >= unitS)
  const [unit, unitS] = SPANS[at] ?? []
  if (unit === undefined || unitS === undefined) return shortText(seconds)
  const [lower, lowerS] = SPANS[at + 1] ?? ['s', 1]
  const whole = Math.floor(seconds / unitS)
  const rest = Math.floor((seconds - whole * unitS) / lowerS)
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${lower}`
}

function shortText(seconds: number): string {
  // Rounded first: 0.9999 s is 1 s, and not 1000 ms.
  const rounded = Number(seconds.toPrecision(3))
  if (rounded === 0 || rounded >= 1) return `${rounded} s`
  if (rounded >= 1e-3) return `${Number((rounded * 1e3).toPrecision(3))} ms`
  return `${Number((rounded * 1e6).toPrecision(3))} µs`
}
