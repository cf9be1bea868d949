import type { Hint } from '@sonde/sdk/api'
import { spanOfHint } from '@sonde/sdk/api'
import { RULES } from '../hints/hints.ts'

/** Two hints of one cause begin this close to each other at most, unless one continues the other. Milliseconds. */
const TOGETHER_MS = 300_000
/** Hints of one rule on different devices have one cause if they begin this close to each other. Milliseconds. */
const AT_ONCE_MS = 30_000
/** Longest time between two hints of one incident. Unit: milliseconds. */
export const AGAIN_MS = 120_000

/** Names of the rules that explain a rule, if both hold on one device or anywhere on a node. */
const CAUSES = { device: causesOf('device'), node: causesOf('node') }
/** Names of the rules that a rule explains. */
const EFFECTS = { device: turned(CAUSES.device), node: turned(CAUSES.node) }

/** A key that a hint has from its start on: a later hint that looks for the key in this time has the same cause. */
interface CauseKey {
  readonly key: string
  /** Unit: milliseconds since the Unix epoch. */
  readonly untilMs: number
}

/**
 * The keys of a hint. A rule that holds again on the same device continues its fault, and a rule that holds on several
 * devices at once has one cause. Otherwise hints belong together if the rule of one explains the other, or if they name
 * the same device. An effect may outlast its cause or follow it, but an effect that is over has no later cause. A
 * notice about the set-up of a device, such as a far NIC, has nothing to do with its faults.
 */
export function causeKeys(hint: Hint): CauseKey[] {
  const { rule, device, affected, severity, sinceMs } = hint
  const endMs = spanOfHint(hint).toMs ?? Number.POSITIVE_INFINITY
  const againMs = endMs + AGAIN_MS
  const following = [`cause ${rule}`, `cause ${rule}/${device}`]
  const holding = [`effect ${rule}`, `effect ${rule}/${device}`]
  if (severity !== 'notice') {
    following.push(...affected.map((one) => `affects ${one}`))
    holding.push(`device ${device}`)
  }
  const within = (keys: readonly string[], untilMs: number) =>
    [...new Set(keys)].map((key) => ({ key, untilMs: Math.min(untilMs, sinceMs + TOGETHER_MS) }))
  return [
    { key: `again ${rule}/${device}`, untilMs: againMs },
    { key: `once ${rule}`, untilMs: sinceMs + AT_ONCE_MS },
    ...within(following, againMs),
    ...within(holding, endMs),
  ].map(({ key, untilMs }) => ({ key: onNode(hint, key), untilMs }))
}

/** The keys of earlier hints that have the same cause as a hint. */
export function earlierKeys(hint: Hint): string[] {
  const { rule, device, affected, severity } = hint
  const keys = [`again ${rule}/${device}`, `once ${rule}`]
  for (const cause of CAUSES.node.get(rule) ?? []) keys.push(`cause ${cause}`)
  for (const cause of CAUSES.device.get(rule) ?? []) keys.push(`cause ${cause}/${device}`)
  for (const effect of EFFECTS.node.get(rule) ?? []) keys.push(`effect ${effect}`)
  for (const effect of EFFECTS.device.get(rule) ?? []) keys.push(`effect ${effect}/${device}`)
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

type Related = ReadonlyMap<string, readonly string[]>

function causesOf(where: 'device' | 'node'): Related {
  const causes = RULES.map(({ name, explainedBy = {} }) => {
    return [name, Object.keys(explainedBy).filter((cause) => explainedBy[cause] === where)] as const
  })
  return new Map(causes)
}

function turned(causes: Related): Related {
  const pairs = [...causes].flatMap(([effect, all]) => all.map((cause) => ({ cause, effect })))
  return new Map(
    [...Map.groupBy(pairs, ({ cause }) => cause)].map(([cause, all]) => [cause, all.map(({ effect }) => effect)]),
  )
}
