import { type Hint, spanOfHint } from '@sonde/sdk/api'
import { RULES } from '../hints/hints.ts'

/** Two hints of one cause begin this close to each other at most, unless one continues the other. Milliseconds. */
const TOGETHER_MS = 300_000
/** Hints of one rule on different devices have one cause if they begin this close to each other. Milliseconds. */
const AT_ONCE_MS = 30_000
/** Longest time between two hints of one incident. Unit: milliseconds. */
export const AGAIN_MS = 120_000

const ORDER: ReadonlyMap<string, number> = new Map(RULES.map(({ name }, at) => [name, at]))

/** For each rule, the rules that explain its fault, and whether they must hold on the same device. */
const EXPLAINED: ReadonlyMap<string, Readonly<Record<string, 'device' | 'node'>>> = new Map(
  RULES.map(({ name, explainedBy = {} }) => [name, explainedBy]),
)

/**
 * Groups hints by their cause: the cause of each group comes first. Every hint is in one group, whatever the order of
 * the input.
 */
export function hintGroups(hints: readonly Hint[]): Hint[][] {
  const closed: Hint[][] = []
  let recent: Hint[][] = []
  const byStart = hints.toSorted((a, b) => a.sinceMs - b.sinceMs || compareEvents(a, b))
  for (const hint of byStart) {
    const joined: Hint[] = []
    const others: Hint[][] = []
    for (const group of recent) {
      if (group.some((other) => isOneCause(other, hint))) joined.push(...group)
      // Later hints begin even later, so no hint joins this group any more.
      else if (group.every((other) => endOf(other) + AGAIN_MS < hint.sinceMs)) closed.push(group)
      else others.push(group)
    }
    recent = [...others, [...joined, hint]]
  }
  return [...closed, ...recent].map((group) => group.sort(byCause))
}

/** The number of a group is the number of its first hint. */
export function groupNumber(group: readonly Hint[]): string {
  return group.reduce((first, hint) => (compareEvents(hint, first) < 0 ? hint : first)).event
}

/** Whether two hints have one cause. `later` began later. */
function isOneCause(earlier: Hint, later: Hint): boolean {
  if (isSimulatedHint(earlier) !== isSimulatedHint(later)) return false
  const apartMs = later.sinceMs - earlier.sinceMs
  const isSameRule = earlier.rule === later.rule
  if (earlier.device === later.device && isSameRule) return later.sinceMs <= endOf(earlier) + AGAIN_MS
  if (isSameRule && apartMs <= AT_ONCE_MS) return true
  if (apartMs > TOGETHER_MS || later.sinceMs > endOf(earlier) + AGAIN_MS) return false
  // A notice about the set-up of a device, such as a far NIC, has nothing to do with its faults.
  if (earlier.severity === 'notice' || later.severity === 'notice') return isExplained(earlier, later)
  return (
    earlier.device === later.device ||
    earlier.affected.includes(later.device) ||
    later.affected.includes(earlier.device) ||
    isExplained(earlier, later)
  )
}

function endOf(hint: Hint): number {
  return spanOfHint(hint).toMs ?? Number.POSITIVE_INFINITY
}

function isExplained(one: Hint, other: Hint): boolean {
  const by = (effect: Hint, cause: Hint): boolean => {
    const where = EXPLAINED.get(effect.rule)?.[cause.rule]
    return where === 'node' || (where === 'device' && effect.device === cause.device)
  }
  return by(one, other) || by(other, one)
}

/** Whether a hint is about the simulated node. */
export function isSimulatedHint({ device }: Pick<Hint, 'device'>): boolean {
  return device.startsWith('sim-')
}

/**
 * The cause comes first: a confirmed hint before a dismissed hint, a fault before a notice, and a rule that explains
 * others before those.
 */
function byCause(a: Hint, b: Hint): number {
  return (
    Number(a.outcome === 'dismissed') - Number(b.outcome === 'dismissed') ||
    Number(a.severity === 'notice') - Number(b.severity === 'notice') ||
    orderOf(a) - orderOf(b) ||
    a.sinceMs - b.sinceMs ||
    compareEvents(a, b)
  )
}

/** A rule of another version of Sonde explains nothing. */
function orderOf({ rule }: Hint): number {
  return ORDER.get(rule) ?? ORDER.size
}

function compareEvents(a: Pick<Hint, 'event'>, b: Pick<Hint, 'event'>): number {
  return a.event.length - b.event.length || (a.event < b.event ? -1 : Number(a.event > b.event))
}
