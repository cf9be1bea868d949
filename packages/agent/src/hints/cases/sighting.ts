import type { Labels } from '@sonde/sdk'
import type { HintEvidence, HintSeverity } from '@sonde/sdk/api'
import { elsewhereOf, type HintDevice } from '../device.ts'
import type { Look } from '../look/look.ts'
import { excessOf, sentenceOf } from '../rules/measure.ts'
import type { Finding, Rule } from '../rules/rule.ts'
import type { Signal } from '../watch/signal.ts'

/** A finding of a rule about a device, with the other contents of the hint. */
export interface Sighting {
  readonly finding: Finding
  readonly severity: HintSeverity
  readonly sentence: string
  readonly device: HintDevice
  readonly evidence: readonly HintEvidence[]
  /** Names of absent metrics that the rule could have used, and facts that no metric reports. */
  readonly lacks: readonly string[]
  /** Time of the newest sample in use. Unit: milliseconds since the Unix epoch. */
  readonly sampleMs: number
}

/** Turns a finding of a rule about a device into a sighting. */
export function sightingOf(rule: Rule, found: Finding, look: Look): Sighting {
  const { looks, node } = look.scope
  const device = found.device ?? look.device
  const host = device.id === node.id ? elsewhereOf(node) : ''
  const finding = host === '' ? found : { ...found, title: `${found.title} on ${host}` }
  // A rule about the node reads many devices. Its sample time is the newest sample of any of them.
  const sampleMs =
    look.newestMs > Number.NEGATIVE_INFINITY ? look.newestMs : Math.max(...looks.map((one) => one.newestMs))
  const shown = looks.find((other) => other.device.id === device.id) ?? look
  return {
    finding,
    severity: found.severity ?? rule.severity,
    sentence: sentenceOf(found.measure, found.sentence),
    device,
    evidence: evidenceOf(rule, shown, finding.series),
    lacks: lacksOf(rule, look),
    sampleMs,
  }
}

const RANK: Readonly<Record<HintSeverity, number>> = { notice: 0, warning: 1, critical: 2 }

/** Whether a sighting is worse than another: of higher severity, or further beyond its limit. */
export function isWorse(one: Sighting, other: Sighting): boolean {
  if (one.severity !== other.severity) return RANK[one.severity] > RANK[other.severity]
  return excessOf(one.finding.measure) > excessOf(other.finding.measure)
}

/**
 * The queries that show the finding. They select the present signals. If no signal is present, for example because the
 * device fell silent, they select all signals that the device had.
 */
function evidenceOf(rule: Rule, look: Look, about: Labels = {}): HintEvidence[] {
  const there = rule.shows.filter((signal) => isThere(signal, rule, look))
  return (there.length > 0 ? there : rule.shows).flatMap((signal): HintEvidence[] => {
    const all = look.scope.looks.flatMap((one) => one.labels(signal))
    const own = look.labels(signal)
    const isMeant = (labels: Labels) =>
      Object.entries(about).every(([name, value]) => (labels[name] ?? value) === value)
    const chosen = own.length > 0 ? own.filter(isMeant) : all
    if (chosen.length === 0) return []
    const bound = matchersOf(chosen, all)
    const wanted = wantedOf(signal).filter(({ label }) => bound.every((one) => one.label !== label))
    return [
      {
        metric: signal.metric,
        function: signal.reads === 'counter' ? 'rate' : 'last',
        matchers: [...bound, ...apartOf(look.device), ...wanted],
      },
    ]
  })
}

function lacksOf(rule: Rule, look: Look): string[] {
  // A series that appears with its first event is not absent before that event.
  const absent = rule.uses
    .filter((signal) => signal.bornAfterMs === Number.POSITIVE_INFINITY && !isThere(signal, rule, look))
    .map(({ metric }) => metric)
  return [...new Set([...absent, ...(rule.lacksAlways ?? [])])]
}

/** Whether a device has a signal now. The work of a GPU also shows on the NICs of its node. */
function isThere(signal: Signal, rule: Rule, look: Look): boolean {
  const others = { node: look.scope.looks, gpu: look.scope.nics, nic: [], port: [] }[rule.of]
  return look.has(signal) || others.some((other) => other.has(signal))
}

/** Matchers that exclude a simulated device of the same name. Simulated series carry the label themselves. */
function apartOf({ isSimulated }: HintDevice): HintEvidence['matchers'] {
  return isSimulated ? [] : [{ label: 'simulated', op: '!=', value: 'true' }]
}

/** Matchers for the series of a type that belong to a signal. */
function wantedOf({ labels }: Signal): HintEvidence['matchers'] {
  const op = Object.values(labels).some((value) => value.includes('|')) ? '=~' : '='
  return Object.entries(labels).map(([label, value]) => ({ label, op, value }))
}

/**
 * Matchers that select the chosen series and few others: the labels that the chosen series share, and, if these fit
 * other series too, the labels that separate them.
 */
function matchersOf(chosen: readonly Labels[], all: readonly Labels[]): HintEvidence['matchers'] {
  const shared = Object.entries(common(chosen))
  const fits = (labels: Labels) => shared.every(([name, value]) => labels[name] === value)
  const own = new Set(chosen)
  let others = all.filter((labels) => !own.has(labels) && fits(labels))
  const matchers: HintEvidence['matchers'][number][] = shared.map(([label, value]) => ({ label, op: '=', value }))
  for (const label of Object.keys(chosen[0] ?? {})) {
    const values = new Set(chosen.map((labels) => labels[label] ?? ''))
    const left = others.filter((labels) => values.has(labels[label] ?? ''))
    if (left.length === others.length) continue
    others = left
    matchers.push({ label, op: '=~', value: [...values].map(literally).join('|') })
  }
  return matchers
}

/** A regular expression that matches only this text. */
function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The labels that all sets share, with the same value. */
function common([first = {}, ...others]: readonly Labels[]): Labels {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((labels) => labels[name] === value)),
  )
}
