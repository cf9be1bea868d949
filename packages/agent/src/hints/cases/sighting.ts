import type { Labels } from '@sonde/sdk'
import type { HintEvidence, HintSeverity } from '@sonde/sdk/api'
import { foreignHost, type HintDevice } from '../device.ts'
import type { Inspection } from '../inspection/inspection.ts'
import { limitExcess, measureSentence } from '../rules/measure.ts'
import type { HintRule, RuleFinding } from '../rules/rule.ts'
import type { HintSignal } from '../watch/signal.ts'

/** A finding of a rule about a device, with the other contents of the hint. */
export interface RuleSighting {
  readonly finding: RuleFinding
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
export function makeSighting(rule: HintRule, found: RuleFinding, inspection: Inspection): RuleSighting {
  const { inspections, node } = inspection.scope
  const device = found.device ?? inspection.device
  const host = device.id === node.id ? foreignHost(node) : ''
  const finding = host === '' ? found : { ...found, title: `${found.title} on ${host}` }
  // A rule about the node reads many devices. Its sample time is the newest sample of any of them.
  const sampleMs =
    inspection.newestMs > Number.NEGATIVE_INFINITY
      ? inspection.newestMs
      : Math.max(...inspections.map((one) => one.newestMs))
  const shown = inspections.find((other) => other.device.id === device.id) ?? inspection
  return {
    finding,
    severity: found.severity ?? rule.severity,
    sentence: measureSentence(found.measure, found.sentence),
    device,
    evidence: evidenceQueries(rule, shown, finding.series),
    lacks: missingSignals(rule, inspection),
    sampleMs,
  }
}

const RANK: Readonly<Record<HintSeverity, number>> = { notice: 0, warning: 1, critical: 2 }

/** Whether a sighting is worse than another: of higher severity, or further beyond its limit. */
export function isWorse(one: RuleSighting, other: RuleSighting): boolean {
  if (one.severity !== other.severity) return RANK[one.severity] > RANK[other.severity]
  return limitExcess(one.finding.measure) > limitExcess(other.finding.measure)
}

/**
 * The queries that show the finding. They select the present signals. If no signal is present, for example because the
 * device fell silent, they select all signals that the device had.
 */
function evidenceQueries(rule: HintRule, inspection: Inspection, about: Labels = {}): HintEvidence[] {
  const there = rule.shows.filter((signal) => isThere(signal, rule, inspection))
  return (there.length > 0 ? there : rule.shows).flatMap((signal): HintEvidence[] => {
    const all = inspection.scope.inspections.flatMap((one) => one.labels(signal))
    const own = inspection.labels(signal)
    const isMeant = (labels: Labels) =>
      Object.entries(about).every(([name, value]) => (labels[name] ?? value) === value)
    const chosen = own.length > 0 ? own.filter(isMeant) : all
    if (chosen.length === 0) return []
    const bound = seriesMatchers(chosen, all)
    const wanted = signalMatchers(signal).filter(({ label }) => bound.every((one) => one.label !== label))
    return [
      {
        metric: signal.metric,
        function: signal.reads === 'counter' ? 'rate' : 'last',
        matchers: [...bound, ...simulatedMatchers(inspection.device), ...wanted],
      },
    ]
  })
}

function missingSignals(rule: HintRule, inspection: Inspection): string[] {
  // A series that appears with its first event is not absent before that event.
  const absent = rule.uses
    .filter((signal) => signal.bornAfterMs === Number.POSITIVE_INFINITY && !isThere(signal, rule, inspection))
    .map(({ metric }) => metric)
  return [...new Set([...absent, ...(rule.lacksAlways ?? [])])]
}

/** Whether a device has a signal now. The work of a GPU also shows on the NICs of its node. */
function isThere(signal: HintSignal, rule: HintRule, inspection: Inspection): boolean {
  const others = { node: inspection.scope.inspections, gpu: inspection.scope.nics, nic: [], port: [] }[rule.of]
  return inspection.has(signal) || others.some((other) => other.has(signal))
}

/** Matchers that exclude a simulated device of the same name. Simulated series carry the label themselves. */
function simulatedMatchers({ isSimulated }: HintDevice): HintEvidence['matchers'] {
  return isSimulated ? [] : [{ label: 'simulated', op: '!=', value: 'true' }]
}

/** Matchers for the series of a type that belong to a signal. */
function signalMatchers({ labels }: HintSignal): HintEvidence['matchers'] {
  const op = Object.values(labels).some((value) => value.includes('|')) ? '=~' : '='
  return Object.entries(labels).map(([label, value]) => ({ label, op, value }))
}

/**
 * Matchers that select the chosen series and few others: the labels that the chosen series share, and, if these fit
 * other series too, the labels that separate them.
 */
function seriesMatchers(chosen: readonly Labels[], all: readonly Labels[]): HintEvidence['matchers'] {
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
