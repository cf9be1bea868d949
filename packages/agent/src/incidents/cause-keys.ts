import type { Hint } from '@sonde/sdk/api'
import { spanOfHint } from '@sonde/sdk/api'
import { RULES } from '../hints/hints.ts'

/** Two hints of one cause begin this close to each other at most, unless one continues the other. Milliseconds. */
const TOGETHER_MS = 300_000
/** Hints of one rule on different devices have one cause if they begin this close to each other. Milliseconds. */
const AT_ONCE_MS = 30_000
/** Longest time between two hints of one incident. Unit: milliseconds. */
export const AGAIN_MS = 120_000

/** Names of the rules that explain a rule or are explained by it, if both hold on one device or anywhere on a node. */
const RELATED = { device: relatedRules('device'), node: relatedRules('node') }

/** A key that a hint has from its start on: a later hint that looks for the key in this time has the same cause. */
interface CauseKey {
  readonly key: string
  /** Unit: milliseconds since the Unix epoch. */
  readonly untilMs: number
}

/**
 * The keys of a hint. A rule that holds again on the same device continues its fault, and a rule that holds on several
 * devices at once has one cause. Otherwise hints belong together if they name the same device, or if the rule of one
 * explains the other. A notice about the set-up of a device, such as a far NIC, has nothing to do with its faults.
 */
export function causeKeys(hint: Hint): CauseKey[] {
  const { rule, device, affected, severity, sinceMs } = hint
  const againMs = (spanOfHint(hint).toMs ?? Number.POSITIVE_INFINITY) + AGAIN_MS
  const togetherMs = Math.min(againMs, sinceMs + TOGETHER_MS)
  const together = [`explains ${rule}`, `explains ${rule}/${device}`]
  if (severity !== 'notice') together.push(`device ${device}`, ...affected.map((one) => `affects ${one}`))
  return [
    { key: `again ${rule}/${device}`, untilMs: againMs },
    { key: `once ${rule}`, untilMs: sinceMs + AT_ONCE_MS },
    ...[...new Set(together)].map((key) => ({ key, untilMs: togetherMs })),
  ].map(({ key, untilMs }) => ({ key: onNode(hint, key), untilMs }))
}

/** The keys of earlier hints that have the same cause as a hint. */
export function earlierKeys(hint: Hint): string[] {
  const { rule, device, affected, severity } = hint
  const keys = [`again ${rule}/${device}`, `once ${rule}`]
  for (const other of RELATED.node.get(rule) ?? []) keys.push(`explains ${other}`)
  for (const other of RELATED.device.get(rule) ?? []) keys.push(`explains ${other}/${device}`)
  if (severity !== 'notice') keys.push(`affects ${device}`, ...[device, ...affected].map((one) => `device ${one}`))
  return [...new Set(keys)].map((key) => onNode(hint, key))
}

/** Whether a hint is about the simulated node. */
export function isSimulatedHint({ device }: Pick<Hint, 'device'>): boolean {
  return device.startsWith('sim-')
}

/** Real and simulated hints have no common cause. */
function onNode(hint: Hint, key: string): string {
  return isSimulatedHint(hint) ? `simulated ${key}` : key
}

function relatedRules(where: 'device' | 'node'): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>()
  const add = (one: string, other: string) => related.set(one, (related.get(one) ?? new Set()).add(other))
  for (const { name, explainedBy = {} } of RULES) {
    for (const [cause, of] of Object.entries(explainedBy)) {
      if (of !== where) continue
      add(name, cause)
      add(cause, name)
    }
  }
  return related
}
